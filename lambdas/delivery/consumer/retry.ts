import type { SQSRecord } from 'aws-lambda';
import type { Clock } from '../../platform/clock.ts';
import { type Delivery, isTest, type WaitingDelivery } from '../delivery.ts';
import type { MoveToDeadLetters } from '../intake/dead-letters.ts';
import type { Admit } from '../lanes/admission.ts';
import type { StoreChange } from '../outcome/store-unless-stale.ts';
import { type AttemptMessage, attemptMessage } from '../queues.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import type { ProcessRecord, RecordOutcome } from './batch-consumer.ts';
import { type DescribeMessage, receiveCountOf } from './message-visibility.ts';
import { type InFlightMessage, inFlightMessage, type ProcessDelivery } from './process-delivery.ts';
import type { FindWebhookState } from './webhook-state.ts';

/**
 * Returns the function that processes a message from the retry or slow queue. The function admits the message, reads the delivery and its
 * webhook, and processes the delivery. It drops a message if its attempt is already recorded.
 */
export function makeRetry(dependencies: RetryDependencies): ProcessRecord {
  const { admit, findWebhookState, processDelivery, store } = dependencies;
  const { moveToDeadLetters, attemptTimeoutMs, now, log } = dependencies;
  /** The attempts in flight. If the lane lags, the sweeper resends overdue messages, so copies may arrive together. */
  const inFlight = new Set<string>();

  return async function retry(record, consumer) {
    const message = parseAttemptMessage(record.body);
    if (!message) {
      await moveToDeadLetters(record, { reason: 'malformed', detail: 'the message is not an attempt' }, () => {
        log.error('retry.rejected', { messageId: record.messageId, reason: 'malformed' });
      });
      return 'processed';
    }
    const { id, accountId, eventName, attempt } = message;
    const key = `${id} ${attempt}`;
    // The copy is not acknowledged, because there is no outcome yet. After the outcome is stored, the copy is stale.
    if (inFlight.has(key)) return { hiddenFor: attemptTimeoutMs };
    const receiveCount = receiveCountOf(record);
    const isRequested = message.expeditedAt !== undefined || isTest(message);
    const admission = admit(message, receiveCount, isRequested);
    if (admission.outcome === 'shed') {
      if (receiveCount === 1)
        log.info('delivery.shed', { deliveryId: id, account: accountId, event: eventName, attempt });
      return 'shed';
    }
    inFlight.add(key);
    return attemptDelivery(message, inFlightMessage(admission, consumer)).finally(() => {
      inFlight.delete(key);
      admission.release();
    });
  };

  /** Retries with the current delivery if another process changed it first, because there may be no other message. */
  async function attemptDelivery(message: AttemptMessage, inFlight: InFlightMessage): Promise<RecordOutcome> {
    for (let tries = 1; ; tries++) {
      try {
        return await attemptOnce(message, inFlight);
      } catch (error) {
        if (!(error instanceof DeliveryChangedError) || tries === maxTries) throw error;
      }
    }
  }

  async function attemptOnce(message: AttemptMessage, inFlight: InFlightMessage): Promise<RecordOutcome> {
    const { id, accountId, eventName, attempt } = message;
    const { delivery, webhook, slowness } = await findWebhookState(id, accountId, eventName);
    const dueIn = delivery && isNextAttempt(message, delivery) ? delivery.wait.nextAttemptAt - now() : Number.NaN;
    if (!delivery || !(dueIn <= maxEarliness)) {
      log.info('delivery.stale', { deliveryId: id, account: accountId, event: eventName, attempt });
      return 'processed';
    }
    if (dueIn > clockTolerance) return { hiddenFor: dueIn };
    const storeChange: StoreChange = async after => {
      if (await store.update(delivery, after)) return true;
      if (after.attempt === delivery.attempt) throw new DeliveryChangedError();
      return false;
    };
    await processDelivery(delivery, { webhook, slowness }, storeChange, inFlight);
    return 'processed';
  }
}

/** Describes the delivery of a message in the retry or slow queue. */
export function describeAttemptMessage({ body }: SQSRecord): ReturnType<DescribeMessage> {
  const message = parseAttemptMessage(body);
  return message ? { deliveryId: message.id, account: message.accountId, event: message.eventName } : {};
}

interface RetryDependencies extends Pick<DeliveryTelemetry, 'log'> {
  readonly admit: Admit;
  readonly findWebhookState: FindWebhookState;
  readonly processDelivery: ProcessDelivery;
  readonly store: Pick<DeliveryStore, 'update'>;
  /** Throws if the dead-letter queue rejects the message. */
  readonly moveToDeadLetters: MoveToDeadLetters;
  readonly attemptTimeoutMs: number;
  readonly now: Clock;
}

function parseAttemptMessage(body: string): AttemptMessage | undefined {
  try {
    return attemptMessage.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}

/** Thrown if a delivery has changed since it was read, but its attempt has no outcome yet. */
class DeliveryChangedError extends Error {
  override readonly name = 'DeliveryChangedError';
}

/** The maximum number of tries for one message while other processes change its delivery. */
const maxTries = 3;

/** Returns whether a message refers to the next attempt. A message from before a resend does not. */
function isNextAttempt(message: AttemptMessage, delivery: Delivery): delivery is WaitingDelivery {
  const { attempt, wait, expedited } = delivery;
  return wait !== undefined && attempt === message.attempt && message.expeditedAt === expedited?.at;
}

/** The maximum difference between the clocks of processes, in milliseconds. A message may arrive this early. */
export const clockTolerance = 500;

/** A message that arrives more than this many milliseconds early is stale, because its delivery was rescheduled with another message. */
const maxEarliness = 5_000;
