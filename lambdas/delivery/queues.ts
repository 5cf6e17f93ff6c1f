import { SendMessageBatchCommand, type SendMessageCommandInput, type SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import { chunksOf } from '../platform/in-batches.ts';
import { describeError } from '../platform/telemetry.ts';
import type { Time } from '../platform/timer.ts';
import { eventNameSchema } from '../webhooks/webhook.ts';
import type { Delivery, WaitingDelivery } from './delivery.ts';
import { type DeliveryTelemetry, describeDelivery } from './telemetry.ts';
import { maxQueueDelay, waitsInQueue } from './transitions.ts';

/**
 * A message in the retry or slow queue that refers to an attempt. The consumer reads all other data from the store when it makes the attempt.
 * Queues deliver at least once, so a message is stale if its attempt is already recorded.
 */
export const attemptMessage = z.object({
  id: z.string(),
  accountId: z.string(),
  eventName: eventNameSchema,
  attempt: z.int().check(z.positive()),
  /** The time at which a resend expedited the attempt. Of two messages for one attempt, only the later message is valid. */
  expeditedAt: z.optional(z.int()),
});

export type AttemptMessage = z.infer<typeof attemptMessage>;

/** The maximum number of messages in one SQS call. */
export const maxMessagesOfCall = 10;

export type AttemptQueue = ReturnType<typeof makeAttemptQueue>;

/** Creates a sender for the retry queue or the slow queue. Each message arrives when its attempt is due. */
export function makeAttemptQueue({
  sqs,
  queueUrl,
  now,
  turn,
}: {
  readonly sqs: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
} & Pick<Time, 'now' | 'turn'>) {
  let waiting: WaitingDelivery[] = [];
  let nextCalls: Promise<SendCalls> | undefined;
  return { send, sendAll };

  /** Sends one message in a call with others from the same turn of the event loop. Throws if SQS rejects the message. */
  async function send(delivery: WaitingDelivery): Promise<void> {
    waiting.push(delivery);
    nextCalls ??= sendWaiting();
    const unsent = await (await nextCalls).get(delivery);
    if (unsent?.includes(delivery))
      throw new Error('Could not send the message of an attempt, because SQS rejected it.');
  }

  async function sendWaiting(): Promise<SendCalls> {
    await turn();
    const deliveries = waiting;
    waiting = [];
    nextCalls = undefined;
    return new Map(
      chunksOf(deliveries, maxMessagesOfCall).flatMap(part => {
        const call = sendAll(part);
        return part.map(delivery => [delivery, call] as const);
      }),
    );
  }

  /** Sends up to ten messages in one call. Returns the deliveries whose messages SQS rejected. Throws if the call fails. */
  async function sendAll(deliveries: readonly WaitingDelivery[]): Promise<WaitingDelivery[]> {
    const moment = now();
    const Entries = deliveries.map((delivery, index) => ({ Id: String(index), ...messageOf(delivery, moment) }));
    const output = await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    const failed = new Set(output.Failed?.map(({ Id }) => Id));
    return deliveries.filter((_, index) => failed.has(String(index)));
  }
}

/** The call that sends each delivery's message. It resolves with the deliveries whose messages SQS rejected. */
type SendCalls = ReadonlyMap<WaitingDelivery, Promise<readonly WaitingDelivery[]>>;

/**
 * Sends the message of a stored delivery, and returns whether the queue accepted it. If not, the function logs the failure, and the sweeper
 * resends the message when the delivery is overdue. Never throws.
 */
export async function trySend(
  queue: Pick<AttemptQueue, 'send'>,
  delivery: WaitingDelivery,
  { log }: Pick<DeliveryTelemetry, 'log'>,
): Promise<boolean> {
  try {
    await queue.send(delivery);
    return true;
  } catch (error) {
    log.error('delivery.not_sent', { ...describeDelivery(delivery), ...describeError(error) });
    return false;
  }
}

/** Sends the messages of up to ten stored deliveries in one call. Returns the deliveries whose messages may not have been accepted. */
export async function trySendAll(
  queue: Pick<AttemptQueue, 'sendAll'>,
  deliveries: readonly WaitingDelivery[],
  { log }: Pick<DeliveryTelemetry, 'log'>,
): Promise<readonly WaitingDelivery[]> {
  let [unsent, reason] = [deliveries, {}];
  try {
    unsent = await queue.sendAll(deliveries);
  } catch (error) {
    reason = describeError(error);
  }
  if (unsent.length === 0) return unsent;
  log.error('delivery.not_sent', { failed: unsent.length, ...reason });
  return unsent;
}

/** Sends the message for the next attempt, or leaves it to the sweeper if the wait is too long for the queue. */
export async function sendNextAttempt(
  queue: Pick<AttemptQueue, 'send'>,
  { wait, ...delivery }: Delivery,
  telemetry: Pick<DeliveryTelemetry, 'log'>,
): Promise<void> {
  if (wait && waitsInQueue(wait)) await trySend(queue, { ...delivery, wait }, telemetry);
}

function messageOf(
  { id, accountId, eventName, attempt, wait, expedited }: WaitingDelivery,
  now: number,
): Pick<SendMessageCommandInput, 'DelaySeconds' | 'MessageGroupId'> & { MessageBody: string } {
  const delay = Math.min(Math.max(wait.nextAttemptAt - now, 0), maxQueueDelay);
  const message: AttemptMessage = {
    id,
    accountId,
    eventName,
    attempt,
    ...(expedited && { expeditedAt: expedited.at }),
  };
  return {
    MessageBody: JSON.stringify(message),
    DelaySeconds: Math.ceil(delay / 1_000), // rounded up, so an attempt is never earlier than its receiver requested
    MessageGroupId: `${accountId}#${eventName}`, // fair queues: one webhook's attempts do not delay another's
  };
}
