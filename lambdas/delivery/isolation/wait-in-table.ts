import type { Clock } from '../../platform/clock.ts';
import type { Delivery } from '../delivery.ts';
import { type StoreChange, storeUnlessStale } from '../store/store-unless-stale.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import { waitingForSlot } from '../transitions.ts';
import type { SlownessStore, StoredSlowness } from './slowness-store.ts';

/** Leaves a delivery in the table, where it waits for the sweeper to give it a slot (`slow-backlog.ts`), without a message. */
export type WaitInTable = (delivery: Delivery, slowness: StoredSlowness, storeChange: StoreChange) => Promise<void>;

export function makeWaitInTable(
  dependencies: {
    readonly slownessStore: Pick<SlownessStore, 'beginWaiting'>;
    readonly now: Clock;
  } & DeliveryTelemetry,
): WaitInTable {
  const { slownessStore, now, log, count } = dependencies;

  return async function waitInTable(delivery, slowness, storeChange) {
    await slownessStore.beginWaiting(slowness);
    if (!(await storeUnlessStale(delivery, waitingForSlot(delivery, now()), storeChange, dependencies))) return;
    count('WaitsForSlot');
    log.info('delivery.waits_for_slot', describeDelivery(delivery));
  };
}
