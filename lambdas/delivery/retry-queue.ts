import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import type { Clock } from '../platform/clock.ts';
import { eventNameSchema } from '../webhooks/webhook.ts';
import type { WaitingDelivery } from './delivery.ts';
import { longestQueueDelay } from './transitions.ts';

/** A message of the retry queue, or the slow one: the attempt to make. Everything else is read from the store when it is made. */
export const retryMessage = z.object({
  id: z.string(),
  accountId: z.string(),
  eventName: eventNameSchema,
  attempt: z.int().check(z.positive()),
  /** When a resend brought the attempt forward: of two messages for one attempt only the later one is not stale. */
  broughtForwardAt: z.optional(z.int()),
});

/** What such a message says. */
export type RetryMessage = z.infer<typeof retryMessage>;

/** Sends the messages of next attempts; each arrives when its attempt is due. */
export interface RetryQueue {
  send(delivery: WaitingDelivery): Promise<void>;
  /** Sends up to 10. Gives how many of them the queue did not take. */
  sendAll(deliveries: readonly WaitingDelivery[]): Promise<number>;
}

/** What the sender stands on. */
export interface RetryQueueDependencies {
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly now: Clock;
}

/** Makes the sender to the retry queue, or to the slow one: their messages are the same. */
export function makeRetryQueue({ sqs, queueUrl, now }: RetryQueueDependencies): RetryQueue {
  const entry = ({ id, accountId, eventName, attempt, wait, broughtForward }: WaitingDelivery) => {
    const delay = Math.min(Math.max(wait.nextAttemptAt - now(), 0), longestQueueDelay);
    const message: RetryMessage = {
      id,
      accountId,
      eventName,
      attempt,
      ...(broughtForward && { broughtForwardAt: broughtForward.at }),
    };
    return {
      MessageBody: JSON.stringify(message),
      DelaySeconds: Math.ceil(delay / 1_000), // whole seconds, and never before a receiver asked
      MessageGroupId: accountId, // fair queueing: no account's retries hold up another's
    };
  };
  return {
    send: async delivery => {
      await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, ...entry(delivery) }));
    },
    sendAll: async deliveries => {
      const Entries = deliveries.map((delivery, index) => ({ Id: String(index), ...entry(delivery) }));
      const answer = await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
      return answer.Failed?.length ?? 0;
    },
  };
}
