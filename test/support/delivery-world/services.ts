import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { BatchGetCommand, PutCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { ProcessOutside } from '@emissor/cloud/virtual';
import type { PublishNotice } from '../../../lambdas/delivery/intake/refused-events-topic.ts';
import type { Lane } from '../../../lambdas/delivery/lane-routing.ts';
import type { PublishedAnnouncement } from '../../../lambdas/delivery/sweeper/announcements.ts';
import type { Dynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import type { Publish } from '../../../lambdas/platform/aws/topic.ts';
import type { Outside } from '../../../lambdas/platform/outside.ts';
import { keyringDynamo, kms } from '../../unit/delivery/test-keyring.ts';
import { environment } from './environment.ts';
import type { makeReceivers } from './receivers.ts';
import { noMessages, type SteppedCloud } from './stepped-cloud.ts';

/** Makes what leads out of processes, and the accidents that their calls may meet. */
export function makeServices({ receivers, cloud }: ServicesParts) {
  const announced: PublishedAnnouncement[] = [];
  /** The notices that the topic of refused events got. */
  const notices: Parameters<PublishNotice>[0][] = [];
  /** All that topics got, as SNS is told it. */
  const published: Parameters<Publish>[1][] = [];
  /** While it is down, no topic takes anything. */
  const topic = { isDown: false };
  /** Actions that come between: each happens when the next call of its name is about to be made. */
  const between: { readonly name: string; readonly act: () => Promise<unknown> }[] = [];
  /** The names of calls whose next answer is lost: it takes effect, and nobody hears of it. */
  const losing: string[] = [];
  let processes = 0;
  return { outsideOf, announced, notices, published, topic, between, losing };

  /** Returns what leads out of a process. Its keys and who asks are known to it: they cost no call. */
  function outsideOf(outside: ProcessOutside, lane: Lane = 'first') {
    const { process, time, random, call } = outside;
    const [dynamo, sqs] = [sendBy(process, outside.dynamodb.send), sendBy(process, outside.sqs.send)];
    processes += 1;
    const sendDynamo: Dynamo = (command, options) => {
      const known = knownBy(command);
      return known ? known(command, options) : dynamo(command, options);
    };
    const jitter = 0.5 + processes * 2 ** -44; // alike everywhere
    return {
      time,
      random: { bytes: random.bytes, number: () => jitter },
      kms,
      resolve: receivers.resolve,
      post: receivers.postFrom(lane, outside),
      publish: async (topicArn, message) => {
        await call({ service: 'sns', operation: 'Publish', tries: 1 }, () => publish(topicArn, message));
      },
      sqs: { send: sqs },
      dynamo: sendDynamo,
    } satisfies Partial<Outside>;
  }

  /** Returns what tells the keys of processes and who asks. */
  function knownBy(command: object): Dynamo | undefined {
    if (command instanceof QueryCommand && command.input.TableName === 'Keyring') return keyringDynamo;
    if (!(command instanceof BatchGetCommand) || command.input.RequestItems?.Users === undefined) return undefined;
    return cloud().quietDynamo;
  }

  /** Makes what sends a process's commands. */
  function sendBy(process: Process, send: ProcessOutside['sqs']['send']) {
    return async function sendCommand(command: unknown, options?: object): Promise<never> {
      const { name: called } = Object(command).constructor;
      const at = between.findIndex(({ name }) => name === called);
      if (at >= 0) await actBetween(process, between.splice(at, 1)[0]?.act);
      const isWrite = command instanceof PutCommand || command instanceof UpdateCommand;
      const isRestart = command instanceof PutCommand && command.input.Item?.state === 'pending';
      if (cloud().isStill(process)) await process.time.turn();
      const stall = cloud().stallOf(process);
      const isStall = isWrite && stall?.isHere(isRestart) === true;
      if (isStall && !stall.hasEffect) await cloud().standStill(process);
      const answered = send(command instanceof ReceiveMessageCommand ? noMessages : command, options);
      await Promise.allSettled([answered]);
      if (isStall && stall.hasEffect) await cloud().standStill(process);
      if (!losing.includes(called)) return answered;
      losing.splice(losing.indexOf(called), 1);
      throw Object.assign(new Error('The answer is lost.'), { name: 'TimeoutError' });
    };
  }

  function publish(...[topicArn, message]: Parameters<Publish>): object {
    const isRefusals = topicArn === environment.refusedEventsTopicArn;
    if (topic.isDown) throw new Error('the topic is down');
    published.push(message);
    (isRefusals ? notices : announced).push(JSON.parse(message.Message ?? ''));
    return {};
  }
}

interface ServicesParts {
  readonly receivers: Pick<ReturnType<typeof makeReceivers>, 'resolve' | 'postFrom'>;
  readonly cloud: () => Pick<SteppedCloud, 'quietDynamo' | 'stallOf' | 'standStill' | 'isStill'>;
}

type Process = ProcessOutside['process'];

/** A process stands still while something happens between two of its calls. */
async function actBetween(process: Process, act?: () => Promise<unknown>): Promise<void> {
  process.freeze();
  try {
    await act?.();
  } finally {
    process.thaw(process.invocationId());
  }
}
