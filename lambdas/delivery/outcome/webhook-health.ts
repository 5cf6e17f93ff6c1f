import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { SuspensionReason, Webhook } from '../../webhooks/webhook.ts';
import { type AttemptOutcome, type Delivery, settled } from '../delivery.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import { type StoreChange, storeUnlessStale } from './store-unless-stale.ts';
import type { Trigger, WebhookHealthStore } from './webhook-health-store.ts';

/** If a webhook has failed for this many milliseconds, the next delivery that exhausts its schedule or reaches `maxAge` suspends it. */
export const suspendAfter = 5 * 24 * 60 * 60_000;

export type WebhookHealth = ReturnType<typeof makeWebhookHealth>;

/**
 * Creates the tracker of webhook health, which suspends a webhook that keeps failing or returns 410. The tracker writes only changes, because
 * a write per attempt would throttle the item of a busy webhook.
 *
 * A suspension is stored before the outcome that requires it. If the process dies between these writes, the next attempt holds the delivery.
 */
export function makeWebhookHealth({
  store,
  now,
  log,
}: { readonly store: WebhookHealthStore; readonly now: Clock } & Pick<DeliveryTelemetry, 'log'>) {
  return { suspendIfGone, suspendIfFailing, failTooOld, record };

  /**
   * Suspends the webhook if its receiver returned 410. Returns the outcome to store. If the webhook was registered again, replaced or
   * reactivated since it was read, the 410 is an ordinary failure.
   */
  async function suspendIfGone(webhook: Webhook, outcome: AttemptOutcome, deliveryId: string): Promise<AttemptOutcome> {
    if (outcome.outcome !== 'gone') return outcome;
    const { record } = outcome;
    const suspended = await store.suspendGone(webhook, { lastResult: record.result, deliveryId });
    if (suspended === 'outdated') return { outcome: 'failed', retryAfterMs: undefined, record };
    if (suspended === 'suspended') reportSuspension(webhook, 'gone');
    else if (webhook.failingSince === undefined) await store.startedFailing(webhook);
    return outcome;
  }

  /** Suspends the webhook of a delivery that is about to fail permanently, if all attempts of the webhook have failed for 5 days. */
  async function suspendIfFailing(webhook: Webhook, { id: deliveryId, attempts }: Delivery): Promise<void> {
    const { failingSince = Number.POSITIVE_INFINITY } = webhook;
    if (now() - failingSince < suspendAfter) return;
    const lastResult = attempts.at(-1)?.result ?? null;
    if (await store.suspendFailing(webhook, { lastResult, deliveryId })) reportSuspension(webhook, 'no_success');
  }

  /** Ends a delivery that has waited too long for a slot (`isTooOld`). */
  async function failTooOld(delivery: Delivery, webhook: Webhook, storeChange: StoreChange): Promise<void> {
    await suspendIfFailing(webhook, delivery);
    if (!(await storeUnlessStale(delivery, settled(delivery, 'failed', now()), storeChange, { log }))) return;
    log.warn('delivery.too_old', describeDelivery(delivery));
  }

  /** Records a success or a failure after its outcome is stored. If the write fails, the next attempt records it. */
  async function record(webhook: Webhook, outcome: AttemptOutcome, after: Delivery): Promise<void> {
    try {
      const trigger = { lastResult: outcome.record.result, deliveryId: after.id };
      if (outcome.outcome === 'delivered') await recordSuccess(webhook, trigger);
      if (outcome.outcome === 'failed') await recordFailure(webhook, trigger);
    } catch (error) {
      log.error('webhook.health_not_stored', { ...describeDelivery(after), ...describeError(error) });
    }
  }

  async function recordSuccess(webhook: Webhook, trigger: Trigger): Promise<void> {
    if (webhook.failingSince ?? webhook.announcedSince) await store.recovered(webhook, trigger);
  }

  async function recordFailure(webhook: Webhook, trigger: Trigger): Promise<void> {
    const { failingSince, failingMark } = webhook;
    if (failingSince === undefined) return void (await store.startedFailing(webhook));
    const mark = nextMark(now() - failingSince, failingMark);
    if (mark !== undefined) await store.announceFailing(webhook, mark, trigger);
  }

  function reportSuspension({ accountId, eventName }: Webhook, reason: SuspensionReason): void {
    log.warn('webhook.suspended', { account: accountId, event: eventName, reason });
  }
}

/** Returns the longest mark that a webhook has reached, or `undefined` if that mark was already announced. */
function nextMark(failingFor: number, announced = 0): number | undefined {
  return failingMarks.findLast(mark => failingFor >= mark && announced < mark);
}

/** Operators are notified when a webhook has failed for each of these durations in milliseconds. */
const failingMarks = [24 * 60 * 60_000, 4 * 24 * 60 * 60_000] as const;
