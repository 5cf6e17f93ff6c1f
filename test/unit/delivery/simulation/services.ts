import { BatchGetCommand, type PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Lane } from '../../../../lambdas/delivery/lane-routing.ts';
import type { PublishNotice } from '../../../../lambdas/delivery/refusals/refused-events-topic.ts';
import type { PublishedAnnouncement } from '../../../../lambdas/delivery/sweeper/announcements.ts';
import type { Dynamo } from '../../../../lambdas/platform/aws/dynamo.ts';
import type { Outside } from '../../../../lambdas/platform/outside.ts';
import type { Database } from '../../../support/database/database.ts';
import { keyringDynamo, kms } from '../test-keyring.ts';
import type { makeCallers } from './callers.ts';
import { environment } from './environment.ts';
import type { Process } from './processes.ts';
import type { makeQueues } from './queues.ts';
import type { makeReceivers } from './receivers.ts';

/** Makes what leads out of processes: a real store, queues, topics, receivers, and the accidents that calls may meet. */
export function makeServices({ database, sqs, receivers, callers }: ServicesParts) {
  const announced: PublishedAnnouncement[] = [];
  /** The notices that the topic of refused events got; while it is down, none. */
  const notices: Parameters<PublishNotice>[0][] = [];
  const topic = { isDown: false };
  /** Whether the answer of each update is lost, and the SDK repeats it. */
  const table = { repeatsUpdates: false };
  /** Actions that come between: each happens when the next call of its name is about to be made. */
  const between: { readonly name: string; readonly act: () => Promise<unknown> }[] = [];
  /** The names of calls whose next answer is lost: it takes effect, and nobody hears of it. */
  const losing: string[] = [];
  return { outsideOf, announced, notices, topic, table, between, losing };

  /** Returns what leads out of a process. Its keys and who asks are known to it: they cost no call. */
  function outsideOf(process: Process, lane: Lane = 'first') {
    return {
      time: process.time,
      random: process.random,
      kms,
      resolve: receivers.resolve,
      post: receivers.postFrom(lane, process),
      readEventSourceState: async () => 'Enabled',
      publish: (topicArn, { Message = '' }) => process.call(() => publish(topicArn, Message)),
      sqs: {
        send: (command: object) => process.hold(send(process, command, () => sqs(command))),
      } as unknown as Outside['sqs'],
      dynamo: ((command: PutCommand) => {
        if (command instanceof QueryCommand && command.input.TableName === 'Keyring') return keyringDynamo(command);
        if (command instanceof BatchGetCommand && command.input.RequestItems?.Users) return callers.records(command);
        return process.hold(send(process, command, () => store(command)));
      }) as unknown as Dynamo,
    } satisfies Partial<Outside>;
  }

  /** Makes a call, after what was to come between. */
  async function send<Result>({ call }: Process, command: object, effect: () => Promise<Result>): Promise<Result> {
    const { name: called } = command.constructor;
    const at = between.findIndex(({ name }) => name === called);
    if (at >= 0) await between.splice(at, 1)[0]?.act();
    const result = call(effect);
    await Promise.allSettled([result]);
    if (!losing.includes(called)) return result;
    losing.splice(losing.indexOf(called), 1);
    throw Object.assign(new Error('The answer is lost.'), { name: 'TimeoutError' });
  }

  async function store(command: PutCommand): Promise<object> {
    if (table.repeatsUpdates && command instanceof UpdateCommand) await database.dynamo(command).catch(() => {});
    return database.dynamo(command);
  }

  async function publish(topicArn: string, text: string): Promise<void> {
    const isRefusals = topicArn === environment.REFUSED_EVENTS_TOPIC_ARN;
    if (isRefusals && topic.isDown) throw new Error('the topic is down');
    (isRefusals ? notices : announced).push(JSON.parse(text));
  }
}

interface ServicesParts {
  readonly database: Database;
  readonly sqs: ReturnType<typeof makeQueues>['send'];
  readonly receivers: Pick<ReturnType<typeof makeReceivers>, 'resolve' | 'postFrom'>;
  readonly callers: Pick<ReturnType<typeof makeCallers>, 'records'>;
}
