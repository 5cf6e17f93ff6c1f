import type { Clock } from '../platform/clock.ts';
import { describeError } from '../platform/telemetry.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import type { Attempt, AttemptOutcome } from './attempt.ts';
import { type Delivery, isTest, settled } from './delivery.ts';
import type { NoteHealth } from './health-notes.ts';
import { type AfterAttempt, isHandedOver, movedToRetryLane } from './lifecycle.ts';
import type { RetryQueue, WaitingDelivery } from './retry-queue.ts';
import type { WatchForSlowness } from './slow-watch.ts';
import { type DeliveryMetric, type DeliveryTelemetry, describeAttempt, describeDelivery } from './telemetry.ts';

/** Stores what became of a delivery. False: another copy of the message was quicker. */
type Save = (after: Delivery) => Promise<boolean>;

/** The queue whose consumer is at work: what waits for a slow receiver must not hold up the first attempts of others. */
export type Lane = 'first' | 'retry';

/**
 * Gives a delivery its turn: attempt, record the outcome, send the next attempt's message. Without its webhook it is
 * cancelled, while that is suspended it is held (a test is not), and a slow webhook's first attempt is left to the retry
 * lane: that changes who makes it, never the schedule. Throws only when the outcome could not be stored.
 */
export type TakeTurn = (delivery: Delivery, webhook: Webhook | undefined, save: Save, lane: Lane) => Promise<void>;

/** What a turn stands on. */
export interface TurnDependencies extends DeliveryTelemetry {
  readonly attempt: Attempt;
  readonly afterAttempt: AfterAttempt;
  readonly watchForSlowness: WatchForSlowness;
  readonly noteHealth: NoteHealth;
  readonly retryQueue: Pick<RetryQueue, 'send'>;
  readonly now: Clock;
}

const metricOf = ({ outcome, record }: AttemptOutcome): DeliveryMetric => {
  if (outcome === 'delivered') return 'Delivered';
  if (outcome === 'own_fault') return 'OwnFault';
  return record.resultado === 'bloqueada' ? 'Blocked' : 'AttemptFailed';
};

const endMetrics: Partial<Record<Delivery['state'], DeliveryMetric>> = {
  falhou: 'Exhausted',
  retida: 'Held',
  cancelada: 'Cancelled',
};

/** Makes the turn that both consumers give their deliveries. */
export const makeTakeTurn = (dependencies: TurnDependencies): TakeTurn => {
  const { attempt, watchForSlowness, afterAttempt, noteHealth, retryQueue, now, log, count } = dependencies;

  const sendRetry = async (delivery: WaitingDelivery) => {
    if (!isHandedOver(delivery.wait)) return;
    try {
      await retryQueue.send(delivery);
    } catch (error) {
      count('RetryNotSent');
      log.error('retry not sent; the sweeper will', { ...describeDelivery(delivery), ...describeError(error) });
    }
  };

  /** The stored outcome decides: whoever was quicker has said, and will do, what follows from it. */
  const record = async (before: Delivery, after: Delivery, save: Save, outcome?: AttemptOutcome) => {
    if (!(await save(after))) {
      count('StaleDropped');
      log.info('outcome recorded already', describeDelivery(before));
      return;
    }
    const ended = isTest(after) ? undefined : endMetrics[after.state];
    if (ended) count(ended);
    if (outcome) count(metricOf(outcome));
    log.info(outcome ? 'attempt' : 'no attempt', {
      ...describeDelivery(before),
      ...(outcome && describeAttempt(outcome.record)),
      ...(outcome && 'detail' in outcome && { detail: outcome.detail }),
      state: after.state,
    });
    if (after.wait) await sendRetry({ ...after, wait: after.wait });
  };

  return async (delivery, webhook, save, lane) => {
    if (webhook?.webhookId !== delivery.webhookId) {
      return record(delivery, settled(delivery, 'cancelada', now()), save);
    }
    if (webhook.status === 'suspenso' && !isTest(delivery))
      return record(delivery, settled(delivery, 'retida', now()), save);
    if (lane === 'first' && webhook.slowSince !== undefined) {
      count('MovedToRetryLane');
      return record(delivery, movedToRetryLane(delivery, now()), save);
    }
    const endWatch = isTest(delivery) ? undefined : watchForSlowness(webhook);
    const outcome = await attempt(webhook, delivery);
    await endWatch?.();
    const after = afterAttempt(delivery, outcome);
    if (!isTest(delivery)) await noteHealth(webhook, outcome, after);
    await record(delivery, after, save, outcome);
  };
};
