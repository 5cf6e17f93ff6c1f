import type { Clock } from '../../platform/clock.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import type { Random } from '../backoff.ts';
import { type AttemptOutcome, type Delivery, isTest, settled, type WaitingDelivery } from '../delivery.ts';
import type { Bulkhead } from '../isolation/bulkhead.ts';
import type { MoveToSlowLane, Save } from '../isolation/slow-lane.ts';
import { isSlow } from '../isolation/slowness.ts';
import { type StoredSlowness, slownessId } from '../isolation/slowness-store.ts';
import { type Lane, type LaterLane, laneFor } from '../lane-routing.ts';
import { fullBulkheadWait } from '../limits.ts';
import { type RetryQueue, sendOrLeave } from '../queues.ts';
import { type DeliveryMetric, type DeliveryTelemetry, describeAttempt, describeDelivery } from '../telemetry.ts';
import { type ApplyOutcome, scheduled, waitsInQueue } from '../transitions.ts';
import type { Attempt } from './attempt.ts';
import type { NoteHealth } from './health-notes.ts';
import type { HeedGone } from './heed-gone.ts';
import type { StartSlowAttemptTimer } from './slow-attempt-timer.ts';
import type { WebhookState } from './webhook-state.ts';

/**
 * Gives a delivery its turn: attempt, record the outcome, send the next attempt's message. Without its webhook it is
 * cancelled, while that is suspended it is held (a test is not), and an attempt that belongs in another lane is left to
 * that one: it changes who makes it, never the schedule. Throws only when the outcome could not be stored, or when a
 * message that is left to another lane could not be sent.
 */
export type ProcessDelivery = (
  delivery: Delivery,
  state: WebhookState,
  save: Save,
  atReceiver?: AtReceiver,
) => Promise<void>;

/** Called when an attempt begins, from when on it waits for its receiver and not for us. Gives what is called when it is over. */
export type AtReceiver = () => () => void;

/** What a turn stands on. */
export interface ProcessDeliveryDependencies extends DeliveryTelemetry {
  readonly attempt: Attempt;
  readonly applyOutcome: ApplyOutcome;
  readonly startSlowAttemptTimer: StartSlowAttemptTimer;
  /** Attempts of this process at each webhook. */
  readonly underWay: Bulkhead;
  readonly handOver: MoveToSlowLane;
  readonly heedGone: HeedGone;
  readonly noteHealth: NoteHealth;
  /** The lane whose consumer is at work. */
  readonly lane: Lane;
  readonly queues: Readonly<Record<LaterLane, Pick<RetryQueue, 'send'>>>;
  readonly now: Clock;
  readonly random: Random;
}

/** Makes the turn that all consumers give their deliveries. */
export function makeProcessDelivery(dependencies: ProcessDeliveryDependencies): ProcessDelivery {
  const {
    attempt,
    startSlowAttemptTimer,
    underWay,
    handOver,
    applyOutcome,
    heedGone,
    noteHealth,
    lane,
    queues,
    now,
    random,
    log,
    count,
  } = dependencies;

  const sendNext = async (delivery: WaitingDelivery) => {
    if (waitsInQueue(delivery.wait)) await sendOrLeave(queues.retry, delivery, dependencies);
  };

  /** What is stored decides: an attempt that lost the race records nothing. */
  const isStored = async (before: Delivery, after: Delivery, save: Save) => {
    if (await save(after)) return true;
    count('StaleDropped');
    log.info('delivery.stale', describeDelivery(before));
    return false;
  };

  const endWithoutAttempt = async (before: Delivery, state: 'cancelled' | 'held', save: Save) => {
    if (!(await isStored(before, settled(before, state, now()), save))) return;
    if (!isTest(before)) count(state === 'held' ? 'Held' : 'Cancelled');
    log.info(state === 'held' ? 'delivery.held' : 'delivery.cancelled', describeDelivery(before));
  };

  /** What is stored already only has its message moved; nothing is known yet of what is not. */
  const move = async (delivery: Delivery, save: Save, to: LaterLane, waitMs = 0) => {
    const waiting = scheduled(delivery, now(), waitMs);
    if (delivery.wait) await queues[to].send(waiting);
    else if (await isStored(delivery, waiting, save)) await sendNext(waiting);
    else return;
    count(to === 'slow' ? 'MovedToSlowLane' : 'MovedToRetryLane');
    log.info('delivery.moved', { ...describeDelivery(delivery), lane: to });
  };

  const logAttempt = (before: Delivery, after: Delivery, outcome: AttemptOutcome, { url }: Webhook) => {
    const line = {
      ...describeDelivery(before),
      ...describeAttempt(outcome.record),
      ...('detail' in outcome && { detail: outcome.detail }),
      host: URL.parse(url)?.host,
      state: after.state,
      ...(after.wait && { nextAttemptAt: new Date(after.wait.nextAttemptAt).toISOString() }),
    };
    if (outcome.outcome === 'internal_error') log.error('delivery.attempt', line);
    else if (outcome.outcome === 'delivered') log.info('delivery.attempt', line);
    else log.warn('delivery.attempt', line);
  };

  const makeAttempt = async (
    delivery: Delivery,
    webhook: Webhook,
    slowness: StoredSlowness,
    save: Save,
    atReceiver: AtReceiver | undefined,
  ) => {
    const watch = isTest(delivery) ? undefined : startSlowAttemptTimer(webhook, slowness);
    const isBack = atReceiver?.();
    const made = await attempt(webhook, delivery, watch);
    isBack?.();
    await watch?.end(made);
    const outcome = isTest(delivery) ? made : await heedGone(webhook, made);
    const after = applyOutcome(delivery, outcome);
    if (!isTest(delivery)) await noteHealth(webhook, outcome, after);
    if (outcome.outcome === 'given_up') return repeatInSlowLane(delivery, after, outcome, webhook, slowness, save);

    if (!(await isStored(delivery, after, save))) return;
    const ended = isTest(after) ? undefined : endMetrics[after.state];
    if (ended) count(ended);
    count(metricOf(outcome));
    logAttempt(delivery, after, outcome, webhook);
    if (after.wait) await sendNext({ ...after, wait: after.wait });
  };

  /** An attempt that was given up is stored as it is handed over: what is to come next is known only then. */
  const repeatInSlowLane = async (
    before: Delivery,
    { wait: _, ...after }: Delivery,
    outcome: AttemptOutcome,
    webhook: Webhook,
    slowness: StoredSlowness,
    save: Save,
  ) => {
    await handOver(after, slowness, async handedOver => {
      if (!(await save(handedOver))) return false;
      count('GivenUp');
      logAttempt(before, handedOver, outcome, webhook);
      return true;
    });
  };

  return async function processDelivery(delivery, { webhook, slowness }, save, atReceiver) {
    if (webhook?.webhookId !== delivery.webhookId) return endWithoutAttempt(delivery, 'cancelled', save);
    if (webhook.status === 'suspended' && !isTest(delivery)) return endWithoutAttempt(delivery, 'held', save);
    // A test that was asked for before an operator suspended.
    if (webhook.suspensionReason === 'operator') return endWithoutAttempt(delivery, 'cancelled', save);
    // A test says nothing of its webhook's health, and so would hold a place of the retry lane each time its receiver hangs.
    if (isTest(delivery) && lane === 'retry') return move(delivery, save, 'slow');
    const beyond = isTest(delivery) ? undefined : laneFor(lane, { ...webhook, isSlow: isSlow(slowness) }, now());
    if (beyond === 'slow') return handOver(delivery, slowness, save);
    if (beyond === 'retry') return move(delivery, save, 'retry');

    const leave = lane === 'slow' ? () => undefined : underWay.enter(slownessId(slowness));
    if (!leave) return move(delivery, save, 'retry', fullBulkheadWait(random));
    try {
      await makeAttempt(delivery, webhook, slowness, save, atReceiver);
    } finally {
      leave();
    }
  };
}

const endMetrics: Partial<Record<Delivery['state'], DeliveryMetric>> = {
  failed: 'Exhausted',
  held: 'Held',
  cancelled: 'Cancelled',
};

function metricOf({ outcome, record }: AttemptOutcome): DeliveryMetric {
  if (outcome === 'delivered') return 'Delivered';
  if (outcome === 'internal_error') return 'InternalError';
  if (outcome === 'given_up') return 'GivenUp';
  return record.result === 'blocked' ? 'Blocked' : 'AttemptFailed';
}
