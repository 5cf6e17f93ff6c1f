import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import { type Delivery, settled, type WaitingDelivery } from '../delivery.ts';
import { type AttemptQueue, sendOrLeave } from '../queues.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import { type StoreChange, storeUnlessStale } from '../store/store-unless-stale.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import { isTooOld, queuedInSlowLane, waitingForSlot, withSlot } from '../transitions.ts';
import type { ReserveSlot } from './slot-reservations.ts';
import type { SlownessStore, StoredSlowness } from './slowness-store.ts';

/**
 * Moves a delivery to the slow lane: with the next slot of its webhook to the slow queue, or, where that is too far off, to
 * the table, where it waits for the sweeper to give it one (`slow-backlog.ts`). Throws whenever something that it must store
 * or send is not.
 */
export type MoveToSlowLane = (delivery: Delivery, slowness: StoredSlowness, storeChange: StoreChange) => Promise<void>;

/** Returns the function that moves deliveries to the slow lane. */
export function makeMoveToSlowLane(
  dependencies: {
    readonly slownessStore: Pick<SlownessStore, 'beginWaiting'>;
    readonly reserveSlot: ReserveSlot;
    readonly store: Pick<DeliveryStore, 'update'>;
    readonly slowQueue: Pick<AttemptQueue, 'send'>;
    readonly now: Clock;
  } & DeliveryTelemetry,
): MoveToSlowLane {
  const { slownessStore, reserveSlot, store, slowQueue, now, log, count } = dependencies;

  return async function moveToSlowLane(delivery, slowness, storeChange) {
    if (isTooOld(delivery, now())) return endTooOld(delivery, storeChange);
    const slotAt = await slotFor(delivery, slowness);
    if (slotAt === undefined) return waitInTable(delivery, slowness, storeChange);
    const waiting = withSlot(delivery, slotAt);
    return delivery.wait ? sendThenMark(waiting) : storeThenSend(delivery, queuedInSlowLane(waiting), storeChange);
  };

  async function endTooOld(delivery: Delivery, storeChange: StoreChange): Promise<void> {
    if (!(await storeUnlessStale(delivery, settled(delivery, 'failed', now()), storeChange, dependencies))) return;
    count('Exhausted');
    log.warn('delivery.too_old', describeDelivery(delivery));
  }

  /** A delivery that a resend brought forward comes now, before those that wait: by default resends are limited to 60 a minute. */
  async function slotFor({ broughtForward }: Delivery, slowness: StoredSlowness): Promise<number | undefined> {
    if (broughtForward) return now();
    return slowness.backlogAt === undefined ? reserveSlot(slowness) : undefined;
  }

  async function waitInTable(delivery: Delivery, slowness: StoredSlowness, storeChange: StoreChange): Promise<void> {
    await slownessStore.beginWaiting(slowness);
    if (!(await storeUnlessStale(delivery, waitingForSlot(delivery, now()), storeChange, dependencies))) return;
    count('WaitsForSlot');
    log.info('delivery.waits_for_slot', describeDelivery(delivery));
  }

  /** Of a stored delivery the message is what matters: that the sweeper may leave it alone for longer is stored after it. */
  async function sendThenMark(waiting: WaitingDelivery): Promise<void> {
    await slowQueue.send(waiting);
    reportMove(waiting);
    await storeMark(waiting, queuedInSlowLane(waiting));
  }

  /**
   * One write stores the delivery as sent already. Where the queue does not take its message, that is taken back, and the
   * sweeper finds it after 2 min. A process that dies between the two leaves it to the sweeper for half an hour.
   */
  async function storeThenSend(before: Delivery, queued: WaitingDelivery, storeChange: StoreChange): Promise<void> {
    if (!(await storeUnlessStale(before, queued, storeChange, dependencies))) return;
    if (await sendOrLeave(slowQueue, queued, dependencies)) reportMove(queued);
    else await storeMark(queued, withSlot(queued, queued.wait.nextAttemptAt));
  }

  function reportMove(waiting: WaitingDelivery): void {
    count('MovedToSlowLane');
    log.info('delivery.moved', { ...describeDelivery(waiting), lane: 'slow' });
  }

  /** Stores for how long the sweeper leaves the delivery alone. Without it the sweeper is early or late. */
  async function storeMark(before: WaitingDelivery, after: WaitingDelivery): Promise<void> {
    try {
      await store.update(before, after);
    } catch (error) {
      log.warn('delivery.not_marked', { ...describeDelivery(before), ...describeError(error) });
    }
  }
}
