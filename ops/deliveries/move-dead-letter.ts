import * as z from 'zod';
import { parseEventMessage } from '../../lambdas/delivery/intake/event.ts';
import { wasRegisteredBy } from '../../lambdas/delivery/intake/origin.ts';
import { attemptMessage } from '../../lambdas/delivery/queues.ts';
import type { FindWebhook } from '../../lambdas/delivery/store/find-webhook.ts';
import type { EventName } from '../../lambdas/webhooks/webhook.ts';
import type { DeadLetter, Queues } from '../stage/queues.ts';

/**
 * Moves a dead-letter message back to its queue, or returns the reason why the message stays. Sends the message before
 * removing it, so an interruption never loses a message. It may leave a copy, which the delivery function recognizes.
 */
export async function moveDeadLetter(
  queues: Pick<Queues, 'send' | 'remove'>,
  findWebhook: FindWebhook,
  deadLetter: DeadLetter,
  { queue, body, account, eventName }: Destination,
): Promise<string | undefined> {
  const { sentAt } = deadLetter.origin;
  const webhook = eventName && (await findWebhook(account, eventName));
  if (webhook && sentAt !== undefined && !wasRegisteredBy(sentAt, webhook)) return tooEarly;
  try {
    await queues.send(queue, body, account, deadLetter.origin);
  } catch (error) {
    const rejection = rejectionOf(error);
    if (rejection === undefined) throw error;
    return `SQS rejected it: ${rejection} Ask the publisher to publish it again`;
  }
  await queues.remove(deadLetter);
  return undefined;
}

/** The queue that a message belongs to, and its body in that queue. */
export interface Destination {
  readonly queue: 'EventsQueueUrl' | 'RetryQueueUrl';
  readonly body: string;
  readonly account: string;
  /** The name of an event. It is missing for an attempt, which belongs to a delivery. */
  readonly eventName?: EventName;
}

/**
 * Returns the queue of a message, or the reason why the message cannot be processed now. An event without an id gets its
 * original message id, which preserves the delivery id.
 */
export function destinationOf({ origin, body }: DeadLetter): Destination | { readonly reason: string } {
  const verdict = parseEventMessage(body, origin.messageId, 'https://unused.example.com');
  if (verdict.outcome === 'event') {
    const event = eventMessage.parse(JSON.parse(body));
    const sent = event.id === undefined ? JSON.stringify({ ...event, id: origin.messageId }) : body;
    const { accountId: account, eventName } = verdict.event;
    return { queue: 'EventsQueueUrl', body: sent, account, eventName };
  }
  try {
    return { queue: 'RetryQueueUrl', body, account: attemptMessage.parse(JSON.parse(body)).accountId };
  } catch {
    return { reason: verdict.detail };
  }
}

/**
 * Returns the reason if SQS rejected only this message. For example, the attributes that describe its origin may make it
 * too large.
 */
function rejectionOf(error: unknown): string | undefined {
  const isRejected =
    error instanceof Error && /\b(?:InvalidParameterValue|InvalidMessageContents)(?:Exception)?$/.test(error.name);
  return isRejected ? error.message : undefined;
}

/** The reason to keep a message that the delivery function would drop. */
const tooEarly = 'its account registered the webhook after the event was sent. Ask the publisher to publish it again';

const eventMessage = z.looseObject({ id: z.optional(z.string()) });
