import type { Clock } from '../../platform/clock.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import { type Delivery, isTest, settled } from '../delivery.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import { type StoreChange, storeUnlessStale } from './store-unless-stale.ts';

/** The states in which a delivery ends without an attempt. */
export type UnattemptedEnd = 'cancelled' | 'held';

/**
 * Returns how a delivery ends whose webhook makes an attempt impossible: without its registration it is cancelled, and held while
 * that is suspended. `undefined`: it may be attempted.
 */
export function unattemptedEndOf(delivery: Delivery, webhook: Webhook | undefined): UnattemptedEnd | undefined {
  if (webhook?.webhookId !== delivery.webhookId) return 'cancelled';
  if (webhook.status === 'suspended' && !isTest(delivery)) return 'held';
  // Only a test gets here. An operator has suspended since it was requested.
  return webhook.suspensionReason === 'operator' ? 'cancelled' : undefined;
}

/** Stores that a delivery has ended without an attempt, and reports it. */
export async function endUnattempted(
  before: Delivery,
  state: UnattemptedEnd,
  storeChange: StoreChange,
  dependencies: Reporting,
): Promise<void> {
  const { now, log, count } = dependencies;
  if (!(await storeUnlessStale(before, settled(before, state, now()), storeChange, dependencies))) return;
  if (!isTest(before)) count(state === 'held' ? 'Held' : 'Cancelled');
  log.info(state === 'held' ? 'delivery.held' : 'delivery.cancelled', describeDelivery(before));
}

/** Does the same for a delivery that waited too long for a slot of its slow webhook (`isTooOld`): it has failed. */
export async function endTooOld(before: Delivery, storeChange: StoreChange, dependencies: Reporting): Promise<void> {
  const { now, log, count } = dependencies;
  if (!(await storeUnlessStale(before, settled(before, 'failed', now()), storeChange, dependencies))) return;
  count('Exhausted');
  log.warn('delivery.too_old', describeDelivery(before));
}

interface Reporting extends DeliveryTelemetry {
  readonly now: Clock;
}
