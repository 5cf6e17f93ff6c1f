import type { QueueDefinition } from '../../src/sqs/queue.ts';
import { makeQueues } from '../../src/sqs/queues.ts';
import { makeTime } from '../../src/time.ts';

/** Creates a queue `q` and a queue `dead` in virtual time, which starts at 0. */
export function openQueues(
  definition: Partial<QueueDefinition> = {},
  faults = { isRedelivered: () => false, isEntryRejected: () => false },
) {
  const time = makeTime(0);
  let ids = 0;
  const nextId = () => {
    ids += 1;
    return `id-${ids}`;
  };
  const arnOf = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;
  const context = { time, faults, note: () => {}, nextId, arnOf };
  const queues = makeQueues([{ name: 'q', ...definition }, { name: 'dead' }], context);
  const perform = (operation: string, input: object = {}) =>
    queues.perform(operation, { QueueUrl: 'https://sqs/000000000000/q', ...input }, 'me');
  const queue = queues.find('q');
  return {
    time,
    queues,
    queue,
    dead: queues.find('dead'),
    perform,
    send: (body: string, group?: string) => queue.send({ body, group }, 'me'),
    receive: (max = 10) => queue.receive(max),
    bodies: (max = 10) => queue.receive(max).map(({ body }) => body),
    /** Performs an operation. Returns the name of its error, if any. */
    errorOf: (operation: string, input: object = {}): unknown => {
      try {
        perform(operation, input);
      } catch (error) {
        return Object(error).name;
      }
      return undefined;
    },
  };
}
