import type { Clock } from '../../platform/clock.ts';
import { type Delivery, settled } from '../delivery.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import type { SkipReason } from '../transitions.ts';
import { type StoreChange, storeUnlessStale } from './store-unless-stale.ts';

/** Ends a delivery without an attempt, and logs it. */
export async function skipDelivery(
  before: Delivery,
  state: SkipReason,
  storeChange: StoreChange,
  dependencies: Pick<DeliveryTelemetry, 'log'> & { readonly now: Clock },
): Promise<void> {
  const { now, log } = dependencies;
  if (!(await storeUnlessStale(before, settled(before, state, now()), storeChange, dependencies))) return;
  log.info(state === 'held' ? 'delivery.held' : 'delivery.cancelled', describeDelivery(before));
}
