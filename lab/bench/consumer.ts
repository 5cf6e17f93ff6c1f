import { randomUUID } from 'node:crypto';
import { eventOf, makeLocalFunction, makeStartLock, type RuntimeContext } from '@emissor/cloud/functions';
import { businessEvents } from '../../lambdas/delivery/intake/event-catalogue.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import { processorTime } from '../../tools/support/function-processes.ts';
import type { LocalOutputs } from '../../tools/support/local-run.ts';

/** The number of messages in a batch, equal to the batch size of the event source mappings. */
export const batchSize = 10;

/** The payload of an invocation, and the number of messages in it. */
interface Batch {
  readonly payload: string;
  readonly messages: number;
}

/** Creates the next batch. The measurement excludes the time that this function takes. */
type MakeBatch = () => Batch;

/** The measurements of one consumer process over consecutive batches. */
export interface Series {
  readonly deliveries: number;
  /** The CPU time of all batches, in milliseconds. */
  readonly cpuMs: number;
  /** The time of each batch from its invocation to its acknowledgement, in milliseconds. */
  readonly times: readonly number[];
}

/** Creates a consumer that runs in one process, as in the local cloud. */
export function makeConsumer(
  label: string,
  bundle: string,
  variables: Readonly<Record<string, string>>,
  runtimeContext: RuntimeContext,
) {
  const name = `Bench-${process.pid}-${label}`;
  const { invoke, end } = makeLocalFunction(
    {
      name,
      label: name,
      directory: bundle,
      handler: 'index.handler',
      memory: 1024,
      timeoutSeconds: 45,
      variables,
      logGroup: name,
    },
    { runtimeContext, startLock: makeStartLock(), onLine: () => undefined },
    1,
  );
  const processes = new RegExp(`^${name}$`);
  let sentMessages = 0;

  return {
    end,
    /** Returns the number of messages passed to the consumer so far. */
    sentMessages: () => sentMessages,
    /** Processes the batches sequentially. */
    consume: async (batches: number, makeBatch: MakeBatch): Promise<Series> => {
      const before = processorTime(processes);
      const times: number[] = [];
      let deliveries = 0;
      for (let count = 0; count < batches; count++) {
        const { payload, messages } = makeBatch();
        const start = performance.now();
        const result = await invoke(payload);
        times.push(performance.now() - start);
        const response = result.outcome === 'returned' ? result.payload : result.error.errorMessage;
        if (response !== '{"batchItemFailures":[]}') throw new Error(`${label} did not process a batch (${response}).`);
        deliveries += messages;
      }
      sentMessages += deliveries;
      return { deliveries, cpuMs: processorTime(processes) - before, times };
    },
  };
}

export type Consumer = ReturnType<typeof makeConsumer>;

/** Returns a function that creates batches in the format of the events queue, with one message per event. */
export function batchesOf({ EventsQueueUrl, Demo }: LocalOutputs, events: readonly EventName[]) {
  return (): Batch => {
    const times = { SentTimestamp: String(Date.now()), ApproximateFirstReceiveTimestamp: String(Date.now()) };
    const messages = events.map(event => ({
      id: randomUUID(),
      receipt: randomUUID(),
      body: JSON.stringify({ id_conta: Demo.AccountId, event, ...businessEvents.exampleValues }),
      attributes: {},
      systemAttributes: { ...times, SenderId: 'bench', ApproximateReceiveCount: '1', MessageGroupId: Demo.AccountId },
    }));
    const queue = `arn:aws:sqs:us-east-1:000000000000:${EventsQueueUrl.split('/').at(-1)}`;
    return { payload: JSON.stringify(eventOf(messages, queue)), messages: messages.length };
  };
}
