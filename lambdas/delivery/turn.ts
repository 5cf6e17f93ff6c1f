import type { Clock } from '../platform/clock.ts';
import { describeError } from '../platform/telemetry.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import type { Attempt, AttemptOutcome } from './attempt.ts';
import { type Delivery, isTest, settled } from './delivery.ts';
import type { NoteHealth } from './health-notes.ts';
import { type Lane, type LaterLane, laneBeyond, nextLane } from './lane.ts';
import { type AfterAttempt, dueNow, isHandedOver } from './lifecycle.ts';
import type { RetryQueue, WaitingDelivery } from './retry-queue.ts';
import type { WatchForSlowness } from './slow-watch.ts';
import { type DeliveryMetric, type DeliveryTelemetry, describeAttempt, describeDelivery } from './telemetry.ts';

/** Stores what became of a delivery. False: another copy of the message was quicker. */
type Save = (after: Delivery) => Promise<boolean>;

/**
 * Gives a delivery its turn: attempt, record the outcome, send the next attempt's message. Without its webhook it is
 * cancelled, while that is suspended it is held (a test is not), and an attempt that belongs in another lane is left to
 * that one: it changes who makes it, never the schedule. Throws only when the outcome could not be stored, or when a
 * message that is left to another lane could not be sent.
 */
export type TakeTurn = (delivery: Delivery, webhook: Webhook | undefined, save: Save) => Promise<void>;

/** What a turn stands on. */
export interface TurnDependencies extends DeliveryTelemetry {
  readonly attempt: Attempt;
  readonly afterAttempt: AfterAttempt;
  readonly watchForSlowness: WatchForSlowness;
  readonly noteHealth: NoteHealth;
  /** The lane whose consumer is at work. */
  readonly lane: Lane;
  readonly queues: Readonly<Record<LaterLane, Pick<RetryQueue, 'send'>>>;
  readonly now: Clock;
}

const moveMetrics: Record<LaterLane, DeliveryMetric> = { retry: 'MovedToRetryLane', slow: 'MovedToSlowLane' };

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

/** Makes the turn that all consumers give their deliveries. */
export const makeTakeTurn = (dependencies: TurnDependencies): TakeTurn => {
  const { attempt, watchForSlowness, afterAttempt, noteHealth, lane, queues, now, log, count } = dependencies;

  const sendNext = async (delivery: WaitingDelivery, to: LaterLane) => {
    if (!isHandedOver(delivery.wait)) return;
    try {
      await queues[to].send(delivery);
    } catch (error) {
      count('RetryNotSent');
      log.error('retry not sent; the sweeper will', { ...describeDelivery(delivery), ...describeError(error) });
    }
  };

  /** What is stored decides: whoever was quicker has said, and will do, what follows from it. */
  const isStored = async (before: Delivery, after: Delivery, save: Save) => {
    if (await save(after)) return true;
    count('StaleDropped');
    log.info('outcome recorded already', describeDelivery(before));
    return false;
  };

  const record = async (before: Delivery, after: Delivery, save: Save, outcome?: AttemptOutcome) => {
    if (!(await isStored(before, after, save))) return false;
    const ended = isTest(after) ? undefined : endMetrics[after.state];
    if (ended) count(ended);
    if (outcome) count(metricOf(outcome));
    log.info(outcome ? 'attempt' : 'no attempt', {
      ...describeDelivery(before),
      ...(outcome && describeAttempt(outcome.record)),
      ...(outcome && 'detail' in outcome && { detail: outcome.detail }),
      state: after.state,
    });
    return true;
  };

  /** What waits is stored already, and only its message moves; nothing is known yet of what does not. */
  const move = async (delivery: Delivery, save: Save, to: LaterLane) => {
    const { wait } = delivery;
    if (wait) {
      await queues[to].send({ ...delivery, wait });
    } else {
      const waiting = dueNow(delivery, now());
      if (!(await isStored(delivery, waiting, save))) return;
      await sendNext(waiting, to);
    }
    count(moveMetrics[to]);
    log.info('left to another lane', { ...describeDelivery(delivery), lane: to });
  };

  return async (delivery, webhook, save) => {
    if (webhook?.webhookId !== delivery.webhookId) {
      await record(delivery, settled(delivery, 'cancelada', now()), save);
      return;
    }
    if (webhook.status === 'suspenso' && !isTest(delivery)) {
      await record(delivery, settled(delivery, 'retida', now()), save);
      return;
    }
    // A test says nothing of its webhook's health, and so would hold a place of the retry lane each time its receiver hangs.
    const beyond = isTest(delivery) && lane === 'retry' ? 'slow' : laneBeyond(lane, webhook, now());
    if (beyond) return move(delivery, save, beyond);

    const endWatch = isTest(delivery) ? undefined : watchForSlowness(webhook);
    const outcome = await attempt(webhook, delivery);
    await endWatch?.();
    const after = afterAttempt(delivery, outcome);
    if (!isTest(delivery)) await noteHealth(webhook, outcome, after);
    const isRecorded = await record(delivery, after, save, outcome);
    if (isRecorded && after.wait) await sendNext({ ...after, wait: after.wait }, nextLane(webhook));
  };
};
