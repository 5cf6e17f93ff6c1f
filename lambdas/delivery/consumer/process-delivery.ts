import { type Clock, isoTime } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import type { Attempt } from '../attempt/attempt.ts';
import type { StartAttemptWatch } from '../attempt/attempt-watch.ts';
import type { Random } from '../backoff.ts';
import { slowLaneWait, webhookLimitWait } from '../backoff.ts';
import { type AttemptOutcome, type Delivery, isResent, isTest } from '../delivery.ts';
import { type Lane, type LaterLane, laneFor } from '../lane-routing.ts';
import type { AdmittedMessage } from '../lanes/admission.ts';
import { isSlow, type Slowness } from '../lanes/slowness.ts';
import { skipDelivery } from '../outcome/skip-delivery.ts';
import { type StoreChange, storeUnlessStale } from '../outcome/store-unless-stale.ts';
import type { WebhookHealth } from '../outcome/webhook-health.ts';
import { type AttemptQueue, sendNextAttempt } from '../queues.ts';
import {
  countsSuccess,
  type DeliveryMetric,
  type DeliveryTelemetry,
  describeAttempt,
  describeDelivery,
} from '../telemetry.ts';
import { type ApplyOutcome, dueNow, isTooOld, scheduled, skipReason } from '../transitions.ts';
import type { ConsumerState, OnAttempt } from './in-flight-messages.ts';
import type { WebhookState } from './webhook-state.ts';

/**
 * Processes a due delivery. Makes the attempt, stores the outcome and sends the message of the next attempt. Cancels the delivery if its
 * webhook is gone, and holds it if its webhook is suspended (except a test). Moves an attempt to another lane if it belongs there. The
 * schedule does not change.
 *
 * Attempts are made at least once. If the process dies between the POST and the write of its outcome, the attempt is repeated with the same
 * `webhook-id`. Throws if a required write or message fails.
 */
export type ProcessDelivery = (
  delivery: Delivery,
  state: WebhookState,
  storeChange: StoreChange,
  message: InFlightMessage,
) => Promise<void>;

export interface InFlightMessage extends Pick<AdmittedMessage, 'mayAttempt'> {
  /** Returns whether other messages may be waiting for this message's slot. */
  readonly isBusy: () => boolean;
  readonly onAttempt?: OnAttempt | undefined;
}

/** Combines an admitted message with the state of its consumer. */
export function inFlightMessage({ mayAttempt, isBusy }: AdmittedMessage, consumer?: ConsumerState): InFlightMessage {
  return { mayAttempt, isBusy: () => isBusy(consumer?.hasStopped() ?? false), onAttempt: consumer?.onAttempt };
}

/** A stored delivery after an attempt, and the outcome of the attempt. */
interface Stored {
  readonly after: Delivery;
  readonly outcome: AttemptOutcome;
}

/** Returns the function that processes deliveries, for the consumers of all lanes. */
export function makeProcessDelivery(
  dependencies: {
    readonly attempt: Attempt;
    readonly startAttemptWatch: StartAttemptWatch;
    readonly applyOutcome: ApplyOutcome;
    readonly health: WebhookHealth;
    readonly lane: Lane;
    readonly queues: Readonly<Record<LaterLane, Pick<AttemptQueue, 'send'>>>;
    readonly now: Clock;
    readonly random: Random;
  } & DeliveryTelemetry,
): ProcessDelivery {
  const { attempt, startAttemptWatch, applyOutcome, health } = dependencies;
  const { lane, queues, now, random, log, count } = dependencies;

  return async function processDelivery(delivery, { webhook, slowness }, storeChange, message) {
    const reason = skipReason(delivery, webhook);
    if (!webhook || reason) return skipDelivery(delivery, reason ?? 'cancelled', storeChange, dependencies);

    const otherLane = otherLaneFor(delivery, webhook, slowness);
    if (otherLane !== undefined) return move(delivery, storeChange, otherLane);
    if (!message.mayAttempt) return defer(delivery, webhook, storeChange);

    const outcome = await makeAttempt(delivery, webhook, slowness, message);
    const stored = await storeOrLog(delivery, outcome, () => suspendThenStore(delivery, outcome, webhook, storeChange));
    if (stored) await reportAndSendNext(delivery, stored, webhook);
  };

  async function suspendThenStore(
    delivery: Delivery,
    initialOutcome: AttemptOutcome,
    webhook: Webhook,
    storeChange: StoreChange,
  ): Promise<Stored | undefined> {
    const outcome = isTest(delivery)
      ? initialOutcome
      : await health.suspendIfGone(webhook, initialOutcome, delivery.id);
    const after = applyOutcome(delivery, outcome);
    const isExhausted = outcome.outcome === 'failed' && after.state === 'failed' && !isTest(delivery);
    if (isExhausted) await health.suspendIfFailing(webhook, after);
    const isStored = await storeUnlessStale(delivery, after, storeChange, dependencies);
    return isStored ? { after, outcome } : undefined;
  }

  /** Stores an outcome. If that fails, logs the outcome, because the log may contain the only record of the POST. */
  async function storeOrLog<Result>(
    delivery: Delivery,
    { record }: AttemptOutcome,
    store: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await store();
    } catch (error) {
      const fields = { ...describeDelivery(delivery), ...describeAttempt(record), ...describeError(error) };
      log.error('delivery.outcome_not_stored', fields);
      throw error;
    }
  }

  /** Reports a stored outcome and sends the next message. Records the webhook's health last, because a later attempt can also record it. */
  async function reportAndSendNext(before: Delivery, { after, outcome }: Stored, webhook: Webhook): Promise<void> {
    report(before, after, outcome, webhook);
    await sendNextAttempt(outcome.outcome === 'given_up' ? queues.slow : queues.retry, after, dependencies);
    if (!isTest(before)) await health.record(webhook, outcome, after);
  }

  /** Returns the lane to which an attempt must move, if any. A test uses the slow lane, in case its receiver hangs. */
  function otherLaneFor(delivery: Delivery, webhook: Webhook, slowness: Slowness): LaterLane | undefined {
    if (isTest(delivery)) return lane === 'retry' ? 'slow' : undefined;
    return laneFor(lane, { ...webhook, isSlow: isSlow(slowness) }, now());
  }

  /** Moves an attempt to another lane. Stores a new delivery first. For a stored delivery, only sends the message. */
  async function move(delivery: Delivery, storeChange: StoreChange, to: LaterLane): Promise<void> {
    const waiting = dueNow(delivery, now());
    if (delivery.wait) await queues[to].send(waiting);
    else if (await storeUnlessStale(delivery, waiting, storeChange, dependencies))
      await sendNextAttempt(queues[to], waiting, dependencies);
    else return;
    log.info('delivery.moved', { ...describeDelivery(delivery), lane: to });
  }

  /** Defers a delivery, because its webhook has used its slots. The delivery waits like a retry, but no attempt is charged. */
  async function defer(delivery: Delivery, webhook: Webhook, storeChange: StoreChange): Promise<void> {
    if (isTooOld(delivery, now())) return health.failTooOld(delivery, webhook, storeChange);
    const isSlowLane = lane === 'slow';
    const waitMs = isSlowLane ? slowLaneWait(now() - delivery.scheduledAt, random) : webhookLimitWait(random);
    const waiting = scheduled(delivery, now(), waitMs);
    if (!(await storeUnlessStale(delivery, waiting, storeChange, dependencies))) return;
    await sendNextAttempt(queues[isSlowLane ? 'slow' : 'retry'], waiting, dependencies);
  }

  async function makeAttempt(
    delivery: Delivery,
    webhook: Webhook,
    slowness: Slowness,
    { onAttempt, isBusy }: InFlightMessage,
  ): Promise<AttemptOutcome> {
    const watch = isTest(delivery) ? undefined : startAttemptWatch(webhook, slowness, isBusy);
    const onEnd = onAttempt?.();
    const outcome = await attempt(webhook, delivery, watch);
    onEnd?.();
    await watch?.end(outcome);
    return outcome;
  }

  function report(before: Delivery, after: Delivery, outcome: AttemptOutcome, { url }: Webhook): void {
    const isDelivered = outcome.outcome === 'delivered';
    if (!isTest(before) && !isResent(before) && (!isDelivered || countsSuccess(before)))
      count('Delivered', isDelivered ? 1 : 0);
    const metric = metricOf(outcome);
    if (metric) count(metric);
    const line = {
      ...describeDelivery(before),
      ...describeAttempt(outcome.record),
      errorCode: outcome.errorCode,
      ...('fault' in outcome && outcome.fault),
      host: URL.parse(url)?.host,
      state: after.state,
      ...(after.wait && { nextAttemptAt: isoTime(after.wait.nextAttemptAt) }),
    };
    if (outcome.outcome === 'internal_error') log.error('delivery.attempt', line);
    else if (outcome.outcome === 'delivered') log.info('delivery.attempt', line);
    else log.warn('delivery.attempt', line);
  }
}

function metricOf({ outcome, record }: AttemptOutcome): DeliveryMetric | undefined {
  if (outcome === 'internal_error') return 'InternalError';
  return record.result === 'blocked' ? 'Blocked' : undefined;
}
