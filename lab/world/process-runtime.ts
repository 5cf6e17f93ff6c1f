import type { KMSClient } from '@aws-sdk/client-kms';
import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { BatchGetCommand, type BatchGetCommandOutput } from '@aws-sdk/lib-dynamodb';
import type { ProcessRuntime } from '@emissor/cloud/virtual';
import { slownessPrefix } from '../../lambdas/delivery/lanes/slow-since.ts';
import { headPart } from '../../lambdas/delivery/store/head-key.ts';
import type { Dynamo } from '../../lambdas/platform/aws/dynamo.ts';
import type { FailureCause } from '../../lambdas/platform/egress/network-error.ts';
import type { PinnedPost } from '../../lambdas/platform/egress/pinned-request.ts';
import { ResolutionError } from '../../lambdas/platform/egress/resolver.ts';
import type { Runtime } from '../../lambdas/platform/runtime.ts';
import { cpuCosts } from './costs.ts';
import type { Post, Reaction, Reading, SentPost } from './receivers.ts';

/** The runtime of a virtual process, as the product's compositions require it. */
export type WorldRuntime = Pick<Runtime, 'time' | 'random' | 'dynamo' | 'sqs' | 'kms' | 'publish' | 'resolve' | 'post'>;

/** The interface between the processes of a world and its receivers. */
export interface ReceiverSide {
  /** Handles a POST and returns the receiver's reaction. */
  readonly handlePost: (deliveryId: string, sent: SentPost) => Reaction & Pick<Post, 'responseBody'>;
  /** Returns the resolution time of a host name in milliseconds, or `Infinity` if its name server never answers. @default 0 */
  readonly resolutionMsOf?: (host: string) => number;
}

/** Creates the runtime of a process in the virtual cloud. */
export function makeWorldRuntime(process: ProcessRuntime, receivers: ReceiverSide): WorldRuntime {
  const { time, random, dynamodb, ...clients } = process;
  const { sqs, kms, sns }: Clients = clients;
  const { dynamo, lastReadingOf } = recordReads((command, options) => dynamodb.send(command, options), time.now);
  return {
    time,
    random,
    sqs,
    kms,
    dynamo: (command, options) => {
      if (command instanceof BatchGetCommand) process.process.work(cpuCosts.read * messagesOf(command));
      return dynamo(command, options);
    },
    publish: async (TopicArn, message) => {
      await sns.send(new PublishCommand({ TopicArn, ...message }));
    },
    resolve: async (name, signal) => {
      const resolutionMs = receivers.resolutionMsOf?.(name) ?? 0;
      if (resolutionMs > 0) await time.pause(Math.min(resolutionMs, resolverTimeout), signal).catch(() => undefined);
      if (signal.aborted) throw new ResolutionError('temporary', 'ECANCELLED');
      if (resolutionMs === Number.POSITIVE_INFINITY) throw new ResolutionError('temporary', 'ETIMEOUT');
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

/** The time until the product's resolver gives up, in milliseconds. The measured time is 4.1 s to 5.0 s. */
const resolverTimeout = 4_900;

/** Returns the number of messages in a read, which has one key each for the delivery, the webhook and the webhook's slowness. */
function messagesOf({ input }: BatchGetCommand): number {
  return Object.values(input.RequestItems ?? {}).reduce((sum, { Keys = [] }) => sum + Keys.length, 0) / 3;
}

/** Creates a `post` that calls the receiver through the virtual cloud. Faults may lose the request or the response, or kill the process. */
function makePost(
  { process, call, time }: ProcessRuntime,
  receivers: ReceiverSide,
  lastReadingOf: (deliveryId: string) => Reading | undefined,
): PinnedPost {
  const { functionName } = process;
  return async function post({ serverName: host, path, headers, body, signal, onResponse }) {
    const deliveryId = String(headers['webhook-id']);
    const sent = { functionName, host, path, headers, body, read: lastReadingOf(deliveryId) };
    let reaction: Reaction & Pick<Post, 'responseBody'>;
    try {
      const request = { service: 'post', operation: 'Post', resource: host, input: { deliveryId } };
      reaction = await call({ ...request, latency: 2, maxAttempts: 1, processorTime: cpuCosts.attempt, signal }, () =>
        receivers.handlePost(deliveryId, sent),
      );
    } catch {
      return signal.aborted ? { outcome: 'aborted', isConnected: false } : failedPost(true, 'reset', 'ECONNRESET');
    }
    const { status, afterMs, retryAfter, responseBody } = reaction;
    if (status === 'refused') return failedPost(false, 'refused', 'ECONNREFUSED');
    await untilResponse(afterMs, signal);
    if (signal.aborted) return { outcome: 'aborted', isConnected: true };
    onResponse();
    const responseHeaders = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
    return {
      outcome: 'response',
      status,
      headers: responseHeaders,
      body: Buffer.from(responseBody),
      isTruncated: false,
    };
  };

  /** Resolves when the response arrives or the signal aborts. */
  async function untilResponse(afterMs: number, signal: AbortSignal): Promise<void> {
    const delayMs = Math.min(afterMs, 24 * 3_600_000);
    await time.pause(delayMs, signal).catch(() => undefined);
  }
}

function failedPost(isConnected: boolean, cause: FailureCause | null, errorCode: string) {
  return { outcome: 'failed', isConnected, isStale: false, kind: 'connection', cause, errorCode } as const;
}

/** Wraps a DynamoDB client. Records the latest read of each delivery, with the webhook from the same read. */
function recordReads(call: Dynamo, now: () => number) {
  const readings = new Map<string, Reading>();
  /** The incomplete reads, by their unprocessed keys. A call with these keys continues the read. */
  const incompleteReads = new WeakMap<object, BatchReading>();
  const dynamo: Dynamo = async (command, options) => {
    const output = await call(command, options);
    if (command instanceof BatchGetCommand) recordCall(command.input, output);
    return output;
  };
  return { dynamo, lastReadingOf: (deliveryId: string) => readings.get(deliveryId) };

  function recordCall({ RequestItems = {} }: BatchGetCommand['input'], output: object): void {
    const { Responses = {}, UnprocessedKeys = {} }: BatchGetOutput = output;
    const earlier = incompleteReads.get(RequestItems) ?? { at: now(), requestItems: RequestItems, responses: [] };
    const reading = { ...earlier, responses: [...earlier.responses, Responses] };
    if (Object.keys(UnprocessedKeys).length > 0) incompleteReads.set(UnprocessedKeys, reading);
    storeReading(reading);
  }

  function storeReading({ at, requestItems, responses }: BatchReading): void {
    const { Webhooks: webhooks, Deliveries: heads } = requestItems;
    if (!webhooks || !heads) return;
    const itemsOf = (table: string) => responses.flatMap(response => response[table] ?? []);
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

/** A read that consists of one or more calls. */
interface BatchReading {
  readonly at: number;
  readonly requestItems: NonNullable<BatchGetCommand['input']['RequestItems']>;
  readonly responses: readonly NonNullable<BatchGetCommandOutput['Responses']>[];
}
