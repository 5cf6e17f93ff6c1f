import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import { type Delivery, settled, type WaitingDelivery } from '../delivery.ts';
import type { DeliveryStore } from '../delivery-store.ts';
import { type RetryQueue, sendOrLeave } from '../queues.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import { isTooOld, queuedInSlowLane, waitingForSlot, withSlot } from '../transitions.ts';
import type { SlownessStore, StoredSlowness } from './slowness-store.ts';

/** Stores what became of a delivery. False: another copy of the message was stored first. */
export type Save = (after: Delivery) => Promise<boolean>;

/**
 * Moves a delivery to the slow lane: with the next slot of its webhook to the slow queue, or, where that is too far off, to
 * the table, where it waits for the sweeper to give it one (`slow-backlog.ts`). Throws only when that could not be stored,
 * or when the message of a delivery that was stored before could not be sent.
 */
export type MoveToSlowLane = (delivery: Delivery, slowness: StoredSlowness, save: Save) => Promise<void>;

/** Makes the move to the slow lane. */
export function makeMoveToSlowLane({
  slownessStore,
  store,
  slowQueue,
  now,
  log,
  count,
}: {
  readonly slownessStore: Pick<SlownessStore, 'reserve' | 'beginWaiting'>;
  readonly store: Pick<DeliveryStore, 'update'>;
  readonly slowQueue: Pick<RetryQueue, 'send'>;
  readonly now: Clock;
} & DeliveryTelemetry): MoveToSlowLane {
  return async function moveToSlowLane(delivery, slowness, save) {
    if (isTooOld(delivery, now())) return end(delivery, save);
    const slotAt = await reserveSlot(delivery, slowness);
    if (slotAt === undefined) return waitInTable(delivery, slowness, save);
    const waiting = withSlot(delivery, slotAt);
    if (delivery.wait) return send(waiting);
    if (await isSaved(delivery, waiting, save)) await sendOrLeave({ send }, waiting, { log, count });
  };

  async function end(delivery: Delivery, save: Save): Promise<void> {
    if (!(await isSaved(delivery, settled(delivery, 'failed', now()), save))) return;
    count('Exhausted');
    log.warn('delivery.too_old', describeDelivery(delivery));
  }

  /** What a resend brought forward comes now, before what waits: resends are limited to one a second. */
  async function reserveSlot({ broughtForward }: Delivery, slowness: StoredSlowness): Promise<number | undefined> {
    if (broughtForward) return now();
    return slowness.backlogAt === undefined ? slownessStore.reserve(slowness) : undefined;
  }

  async function waitInTable(delivery: Delivery, slowness: StoredSlowness, save: Save): Promise<void> {
    await slownessStore.beginWaiting(slowness);
    if (!(await isSaved(delivery, waitingForSlot(delivery, now()), save))) return;
    count('WaitsForSlot');
    log.info('delivery.waits_for_slot', describeDelivery(delivery));
  }

  /** The message is what matters: that the sweeper may leave it alone for longer is stored after it. */
  async function send(waiting: WaitingDelivery): Promise<void> {
    await slowQueue.send(waiting);
    count('MovedToSlowLane');
    log.info('delivery.moved', { ...describeDelivery(waiting), lane: 'slow' });
    try {
      await store.update(waiting, queuedInSlowLane(waiting));
    } catch (error) {
      log.warn('delivery.not_marked', { ...describeDelivery(waiting), ...describeError(error) });
    }
  }

  async function isSaved(before: Delivery, after: Delivery, save: Save): Promise<boolean> {
    if (await save(after)) return true;
    count('StaleDropped');
    log.info('delivery.stale', describeDelivery(before));
    return false;
  }
}
