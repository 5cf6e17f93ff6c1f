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
 * Returns the function that makes the attempt that a message of the retry or slow queue names. It parses the message, admits it,
 * reads the delivery and its webhook, and processes the delivery. It drops a message whose attempt is recorded already.
 */
export function makeRetry(dependencies: RetryDependencies): ProcessRecord {
  const { admit, findWebhookState, processDelivery, store } = dependencies;
  const { moveToDeadLetters, attemptTimeoutMs, now, log } = dependencies;
  /** The attempts in flight. If a lane lags, the sweeper sends more messages for a waiting attempt, and all may arrive together. */
  const inFlight = new Set<string>();

  return async function retry(record, consumer) {
    const message = parseAttemptMessage(record.body);
    if (!message) {
      await moveToDeadLetters(record, { reason: 'malformed', detail: 'names no attempt' }, () => {
        log.error('retry.rejected', { messageId: record.messageId, reason: 'malformed' });
      });
      return 'processed';
    }
    const { id, accountId, eventName, attempt } = message;
    const key = `${id} ${attempt}`;
    // Not acknowledged, because there is no outcome yet. When the message returns, there is an outcome, and the message is stale.
    if (inFlight.has(key)) return { hiddenFor: attemptTimeoutMs };
    const receiveCount = receiveCountOf(record);
    const isAskedFor = message.expeditedAt !== undefined || isTest(message);
    const admission = admit(message, receiveCount, isAskedFor);
    if (admission.outcome === 'shed') {
      if (receiveCount === 1)
        log.info('delivery.shed', { deliveryId: id, account: accountId, event: eventName, attempt });
      return 'shed';
    }
    inFlight.add(key);
    return attemptDelivery(message, inFlightMessage(admission, consumer)).finally(() => {
      inFlight.delete(key);
      admission.leave();
    });
  };

  /** Reads the delivery again if it changed before it was moved, held or ended, because there may be no other message. */
  async function attemptDelivery(message: AttemptMessage, inFlight: InFlightMessage): Promise<RecordOutcome> {
    for (let tries = 1; ; tries++) {
      try {
        return await attemptAsRead(message, inFlight);
      } catch (error) {
        if (!(error instanceof DeliveryChangedError) || tries === maxTries) throw error;
      }
    }
  }

  async function attemptAsRead(message: AttemptMessage, inFlight: InFlightMessage): Promise<RecordOutcome> {
    const { id, accountId, eventName, attempt } = message;
    const { delivery, webhook, slowness } = await findWebhookState(id, accountId, eventName);
    const dueIn = delivery && isNamedBy(message, delivery) ? delivery.wait.nextAttemptAt - now() : Number.NaN;
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

/** Describes the delivery that a message of the retry or slow queue names. */
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
  /** The timeout of an attempt, in milliseconds. */
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

/** Thrown if a delivery has changed since it was read, although its attempt was not recorded. */
class DeliveryChangedError extends Error {
  override readonly name = 'DeliveryChangedError';
}

/** The maximum number of reads of a delivery for one message while other processes change it. */
const maxTries = 3;

/** Returns whether a message names the next attempt. A message that was sent before a resend does not. */
function isNamedBy(message: AttemptMessage, delivery: Delivery): delivery is WaitingDelivery {
  const { attempt, wait, expedited } = delivery;
  return wait !== undefined && attempt === message.attempt && message.expeditedAt === expedited?.at;
}

/** The maximum difference between the clocks of processes, in milliseconds. A message that is early by at most this is on time. */
export const clockTolerance = 500;

/** A message that is earlier than this, in milliseconds, is stale. Its delivery was rescheduled later, with another message. */
const maxEarliness = 5_000;
