import type { Delivery } from '../delivery.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';

/** Stores what became of a delivery. False: another copy of the message was stored first. */
export type StoreChange = (after: Delivery) => Promise<boolean>;

/** Stores what became of a delivery, or reports that another copy was stored first. Returns whether it was stored. */
export async function storeUnlessStale(
  before: Delivery,
  after: Delivery,
  storeChange: StoreChange,
  { log }: Pick<DeliveryTelemetry, 'log'>,
): Promise<boolean> {
  if (await storeChange(after)) return true;
  log.info('delivery.stale', describeDelivery(before));
  return false;
}
