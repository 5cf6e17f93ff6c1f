import type { Delivery } from '../delivery.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';

/** Stores a changed delivery. Returns false if the change from another copy of the message was stored first. */
export type StoreChange = (after: Delivery) => Promise<boolean>;

/** Stores a changed delivery. Logs a stale message and returns false if the change from another copy was stored first. */
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
