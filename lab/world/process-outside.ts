import type { KMSClient } from '@aws-sdk/client-kms';
import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { ProcessOutside } from '@emissor/virtual-cloud';
import type { PinnedPost } from '../../lambdas/platform/egress/pinned-request.ts';
import type { Outside } from '../../lambdas/platform/outside.ts';
import type { Reaction, Receivers } from './receivers.ts';

/** What leads out of a virtual process, as the product's compositions take it. */
export type WorldOutside = Pick<
  Outside,
  'time' | 'random' | 'dynamo' | 'sqs' | 'kms' | 'publish' | 'resolve' | 'post' | 'readEventSourceState'
>;

/** Makes it from a process of the virtual cloud. */
export function makeWorldOutside(process: ProcessOutside, receivers: Receivers): WorldOutside {
  const { time, random, dynamodb, ...clients } = process;
  const { sqs, kms, sns }: Clients = clients;
  return {
    time,
    random,
    sqs,
    kms,
    dynamo: (command, options) => dynamodb.send(command, options),
    publish: async (TopicArn, message) => {
      await sns.send(new PublishCommand({ TopicArn, ...message }));
    },
    resolve: async (_name, _signal, onAsking) => {
      onAsking?.();
      return [publicAddress];
    },
    post: makePost(process, receivers),
    readEventSourceState: async () => 'Enabled',
  };
}

interface Clients {
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly kms: Pick<KMSClient, 'send'>;
  readonly sns: Pick<SNSClient, 'send'>;
}

const publicAddress = '93.184.216.34';

/** A POST goes to its receiver as a call of its own; so it may be lost on either way, and its process may die of it. */
function makePost({ call, time }: ProcessOutside, receivers: Receivers): PinnedPost {
  return async function post({ serverName: host, headers, signal, onConnected, onAnswered }) {
    const deliveryId = String(headers['webhook-id']);
    let reaction: Reaction;
    try {
      const request = { service: 'post', operation: 'Post', resource: host, input: { deliveryId } };
      reaction = await call({ ...request, takes: 2, tries: 1, signal }, () => receivers.take(host, deliveryId));
    } catch {
      return signal.aborted ? { outcome: 'aborted' } : broken(true, 'ECONNRESET');
    }
    const { status, afterMs } = reaction;
    if (status === 'refused') return broken(false, 'ECONNREFUSED');
    onConnected();
    await untilAnswered(afterMs, signal);
    if (signal.aborted) return { outcome: 'aborted' };
    onAnswered();
    receivers.answer(deliveryId, status);
    return { outcome: 'response', status, headers: {}, body: Buffer.alloc(0), isTruncated: false };
  };

  /** Resolves when the answer is there, or the signal aborts. */
  async function untilAnswered(afterMs: number, signal: AbortSignal): Promise<void> {
    const longest = Math.min(afterMs, 24 * 3_600_000);
    await time.pause(longest, signal).catch(() => undefined);
  }
}

function broken(isConnected: boolean, detail: string) {
  return { outcome: 'failed', isConnected, isStale: false, kind: 'connection', detail } as const;
}
