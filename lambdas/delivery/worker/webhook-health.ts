import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { SuspensionReason, Webhook } from '../../webhooks/webhook.ts';
import type { AttemptOutcome, AttemptRecord, Delivery } from '../delivery.ts';
import { failingMarks, suspendAfter } from '../limits.ts';
import type { Told, WebhookHealthStore } from '../store/webhook-health-store.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';

export type WebhookHealth = ReturnType<typeof makeWebhookHealth>;

/**
 * Makes the keeper of webhooks' health: a webhook that keeps failing, or wants no more, is suspended. It writes changes only: a busy
 * webhook would otherwise throttle its own item.
 */
export function makeWebhookHealth({
  store,
  now,
  log,
  count,
}: { readonly store: WebhookHealthStore; readonly now: Clock } & DeliveryTelemetry) {
  return { suspendIfGone, suspendIfExhausted, suspendAfterEnd, record };

  /**
   * Suspends the webhook of a receiver that answered 410. Where the webhook was changed or reactivated since the attempt
   * began, the 410 says nothing about the webhook: the outcome is then an ordinary failure. Every other outcome stays as it
   * is. May be repeated. Throws where the suspension cannot be stored: nobody would ask the receiver again.
   */
  async function suspendIfGone(webhook: Webhook, outcome: AttemptOutcome, deliveryId: string): Promise<AttemptOutcome> {
    if (outcome.outcome !== 'gone') return outcome;
    const { record } = outcome;
    // The write's own condition decides, not what was read before the attempt.
    const suspended = await store.suspendGone(webhook, { lastResult: record.result, deliveryId });
    if (suspended === 'outdated') return ordinaryFailure(record);
    if (suspended === 'suspended') reportSuspension(webhook, 'gone');
    return outcome;
  }

  /**
   * Suspends the webhook of a delivery that a failed attempt has exhausted, or that waited too long for one, where all has failed
   * for five days. Returns whether that is so. May be repeated. Throws where the suspension cannot be stored.
   */
  async function suspendIfExhausted(webhook: Webhook, delivery: Delivery): Promise<boolean> {
    const { id: deliveryId, state, settledAt = 0, attempts } = delivery;
    const { failingSince = Number.POSITIVE_INFINITY } = webhook;
    if (state !== 'failed' || settledAt - failingSince < suspendAfter) return false;
    const lastResult = attempts.at(-1)?.result ?? null;
    if (await store.suspendFailing(webhook, { lastResult, deliveryId })) reportSuspension(webhook, 'no_success');
    return true;
  }

  /** Does the same after an end without an attempt. What cannot be stored is told, and left to the next delivery that ends so. */
  async function suspendAfterEnd(webhook: Webhook, failed: Delivery): Promise<void> {
    await suspendIfExhausted(webhook, failed).catch(error => tellNotStored(failed, error));
  }

  /**
   * Records a success or a failure. Suspends the webhook when a delivery is exhausted and all has failed for five days, and
   * throws where that cannot be stored. What else cannot be recorded now, the next attempt records.
   */
  async function record(webhook: Webhook, outcome: AttemptOutcome, after: Delivery): Promise<void> {
    if (outcome.outcome === 'failed' && (await suspendIfExhausted(webhook, after))) return;
    try {
      const told = { lastResult: outcome.record.result, deliveryId: after.id };
      if (outcome.outcome === 'delivered') await recordSuccess(webhook, told);
      if (outcome.outcome === 'failed') await recordFailure(webhook, told);
    } catch (error) {
      tellNotStored(after, error);
    }
  }

  function tellNotStored(delivery: Delivery, error: unknown): void {
    log.error('webhook.health_not_stored', { ...describeDelivery(delivery), ...describeError(error) });
  }

  async function recordSuccess(webhook: Webhook, told: Told): Promise<void> {
    if (webhook.failingSince ?? webhook.announcedSince) await store.recovered(webhook, told);
  }

  async function recordFailure(webhook: Webhook, told: Told): Promise<void> {
    const { failingSince, failingMark } = webhook;
    if (failingSince === undefined) return void (await store.startedFailing(webhook));
    const mark = unannouncedMark(now() - failingSince, failingMark);
    if (mark !== undefined) await store.announceFailing(webhook, mark, told);
  }

  function reportSuspension({ accountId, eventName }: Webhook, reason: SuspensionReason): void {
    count('WebhookSuspended');
    log.warn('webhook.suspended', { account: accountId, event: eventName, reason });
  }
}

/** Returns the outcome that a 410 is where it says nothing about the webhook. */
export function ordinaryFailure(record: AttemptRecord): AttemptOutcome {
  return { outcome: 'failed', retryAfterMs: undefined, record };
}

/** Returns the latest mark that a webhook has failed for, where that was not announced yet. */
function unannouncedMark(failingFor: number, announced = 0): number | undefined {
  return failingMarks.findLast(mark => failingFor >= mark && announced < mark);
}
