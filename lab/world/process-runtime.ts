import type { KMSClient } from '@aws-sdk/client-kms';
import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { BatchGetCommand, type BatchGetCommandOutput } from '@aws-sdk/lib-dynamodb';
import type { ProcessOutside } from '@emissor/cloud/virtual';
import { slownessPrefix } from '../../lambdas/delivery/lanes/slow-since.ts';
import { headPart } from '../../lambdas/delivery/store/head-key.ts';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import type { FailureCause } from '../../lambdas/platform/egress/network-error.ts';
import type { PinnedPost } from '../../lambdas/platform/egress/pinned-request.ts';
import { ResolutionError } from '../../lambdas/platform/egress/resolver.ts';
import type { Runtime } from '../../lambdas/platform/runtime.ts';
import { workOf } from './costs.ts';
import type { Post, Reaction, Reading, SentPost } from './receivers.ts';

/** The ways out of a virtual process, as the product's compositions take them. */
export type WorldOutside = Pick<Runtime, 'time' | 'random' | 'dynamo' | 'sqs' | 'kms' | 'publish' | 'resolve' | 'post'>;

/** Receivers, as the processes of a world meet them. */
export interface ReceiverSide {
  /** Takes a POST of a function, and returns what comes of it. */
  readonly take: (deliveryId: string, sent: SentPost) => Reaction & Pick<Post, 'answer'>;
  /** Returns the milliseconds until a host's name is resolved; it is at once without this, and never where nobody answers. */
  readonly resolvesAfter?: (host: string) => number;
}

/** Makes it from a process of the virtual cloud. */
export function makeWorldOutside(process: ProcessOutside, receivers: ReceiverSide): WorldOutside {
  const { time, random, dynamodb, ...clients } = process;
  const { sqs, kms, sns }: Clients = clients;
  const { dynamo, lastReadingOf } = makeNotingDynamo((command, options) => dynamodb.send(command, options), time.now);
  return {
    time,
    random,
    sqs,
    kms,
    dynamo: (command, options) => {
      if (command instanceof BatchGetCommand) process.process.work(workOf.read * messagesOf(command));
      return dynamo(command, options);
    },
    publish: async (TopicArn, message) => {
      await sns.send(new PublishCommand({ TopicArn, ...message }));
    },
    resolve: async (name, signal) => {
      const takes = receivers.resolvesAfter?.(name) ?? 0;
      if (takes > 0) await time.pause(Math.min(takes, unansweredAfter), signal).catch(() => undefined);
      if (signal.aborted) throw new ResolutionError('temporary', 'ECANCELLED');
      if (takes === Number.POSITIVE_INFINITY) throw new ResolutionError('temporary', 'ETIMEOUT');
      return ['93.184.216.34'];
    },
    post: makePost(process, receivers, lastReadingOf),
  };
}

interface Clients {
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly kms: Pick<KMSClient, 'send'>;
  readonly sns: Pick<SNSClient, 'send'>;
}

/** Our resolver asks a silent name server for 4.1 to 5.0 s (measured), in milliseconds. */
const unansweredAfter = 4_900;

/** Of a message the delivery, the webhook and its slowness are read. */
function messagesOf({ input }: BatchGetCommand): number {
  return Object.values(input.RequestItems ?? {}).reduce((sum, { Keys = [] }) => sum + Keys.length, 0) / 3;
}

/** A POST goes to its receiver as a call of its own; so it may be lost on either way, and its process may die of it. */
function makePost(
  { process, call, time }: ProcessOutside,
  receivers: ReceiverSide,
  lastReadingOf: (deliveryId: string) => Reading | undefined,
): PinnedPost {
  const { functionName } = process;
  return async function post({ serverName: host, path, headers, body, signal, onAnswered }) {
    const deliveryId = String(headers['webhook-id']);
    const sent = { functionName, host, path, headers, body, read: lastReadingOf(deliveryId) };
    let reaction: Reaction & Pick<Post, 'answer'>;
    try {
      const request = { service: 'post', operation: 'Post', resource: host, input: { deliveryId } };
      reaction = await call({ ...request, takes: 2, tries: 1, work: workOf.attempt, signal }, () =>
        receivers.take(deliveryId, sent),
      );
    } catch {
      return signal.aborted ? { outcome: 'aborted', isConnected: false } : broken(true, 'reset', 'ECONNRESET');
    }
    const { status, afterMs, retryAfter, answer } = reaction;
    if (status === 'refused') return broken(false, 'refused', 'ECONNREFUSED');
    await untilAnswered(afterMs, signal);
    if (signal.aborted) return { outcome: 'aborted', isConnected: true };
    onAnswered();
    const headersOfAnswer = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
    return {
      outcome: 'response',
      status,
      headers: headersOfAnswer,
      body: Buffer.from(answer),
      isTruncated: false,
    };
  };

  /** Resolves when the answer is there, or the signal aborts. */
  async function untilAnswered(afterMs: number, signal: AbortSignal): Promise<void> {
    const longest = Math.min(afterMs, 24 * 3_600_000);
    await time.pause(longest, signal).catch(() => undefined);
  }
}

function broken(isConnected: boolean, cause: FailureCause | null, errorCode: string) {
  return { outcome: 'failed', isConnected, isStale: false, kind: 'connection', cause, errorCode } as const;
}

/** Makes what calls DynamoDB, and notes what it reads of deliveries together with their webhooks. */
function makeNotingDynamo(call: Dynamo, now: () => number) {
  const readings = new Map<string, Reading>();
  /** The readings by the keys that each left unprocessed: a call that asks for these goes on with its reading. */
  const unfinished = new WeakMap<object, BatchReading>();
  const dynamo: Dynamo = async (command, options) => {
    const output = await call(command, options);
    if (command instanceof BatchGetCommand) note(command.input, output);
    return output;
  };
  return { dynamo, lastReadingOf: (deliveryId: string) => readings.get(deliveryId) };

  function note({ RequestItems = {} }: BatchGetCommand['input'], output: object): void {
    const { Responses = {}, UnprocessedKeys = {} }: BatchGetOutput = output;
    const begun = unfinished.get(RequestItems) ?? { at: now(), asked: RequestItems, found: [] };
    const reading = { ...begun, found: [...begun.found, Responses] };
    if (Object.keys(UnprocessedKeys).length > 0) unfinished.set(UnprocessedKeys, reading);
    keep(reading);
  }

  function keep({ at, asked, found }: BatchReading): void {
    const { Webhooks: webhooks, Deliveries: heads } = asked;
    if (!webhooks || !heads) return;
    const itemsOf = (table: string) => found.flatMap(responses => responses[table] ?? []);
    for (const { id } of heads.Keys ?? []) {
      readings.set(String(id), {
        at,
        isConsistent: webhooks.ConsistentRead === true,
        head: itemsOf('Deliveries').find(item => item.id === id && item.part === headPart),
        webhooks: itemsOf('Webhooks'),
        slownesses: itemsOf('Deliveries').filter(item => String(item.id).startsWith(slownessPrefix)),
      });
    }
  }
}

type BatchGetOutput = Partial<Pick<BatchGetCommandOutput, 'Responses' | 'UnprocessedKeys'>>;

/** A reading of one call or more: when it began, what it asked for, what each of its calls told. */
interface BatchReading {
  readonly at: number;
  readonly asked: NonNullable<BatchGetCommand['input']['RequestItems']>;
  readonly found: readonly NonNullable<BatchGetCommandOutput['Responses']>[];
}
