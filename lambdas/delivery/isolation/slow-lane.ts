import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import type { Delivery, Mover, WaitingDelivery } from '../delivery.ts';
import { type AttemptQueue, sendOrLeave } from '../queues.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import { type StoreChange, storeUnlessStale } from '../store/store-unless-stale.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import { queuedInSlowLane, type Slot, withSlot } from '../transitions.ts';
import type { ReserveSlot } from './slot-reservations.ts';
import type { StoredSlowness } from './slowness-store.ts';
import type { WaitInTable } from './wait-in-table.ts';

/**
 * Moves a delivery to the slow lane: with the next slot of its webhook to the slow queue, or, where that is too far off, to
 * the table, where it waits for the sweeper to give it one (`slow-backlog.ts`). Throws whenever something that it must store
 * or send is not.
 */
export type MoveToSlowLane = (
  delivery: Delivery,
  slowness: StoredSlowness,
  mover: Mover,
  storeChange: StoreChange,
) => Promise<void>;

export function makeMoveToSlowLane(
  dependencies: {
    readonly reserveSlot: ReserveSlot;
    readonly waitInTable: WaitInTable;
    readonly store: Pick<DeliveryStore, 'read' | 'update'>;
    readonly slowQueue: Pick<AttemptQueue, 'send'>;
    readonly now: Clock;
  } & DeliveryTelemetry,
): MoveToSlowLane {
  const { reserveSlot, waitInTable, store, slowQueue, now, log, count } = dependencies;

  return async function moveToSlowLane(delivery, slowness, mover, storeChange) {
    const slot = await slotFor(delivery, slowness);
    if (!slot) return waitInTable(delivery, slowness, storeChange);
    const waiting = withSlot(delivery, slot, now());
    const queued = queuedInSlowLane(waiting, mover);
    return delivery.wait ? sendThenMark(waiting, queued) : storeThenSend(delivery, { waiting, queued }, storeChange);
  };

  /** A delivery that a resend brought forward comes now, before those that wait: by default resends are limited to 60 a minute. */
  async function slotFor({ broughtForward }: Delivery, slowness: StoredSlowness): Promise<Slot | undefined> {
    if (broughtForward) return { at: now(), series: slowness.slotSeries };
    return slowness.backlogAt === undefined ? reserveSlot(slowness) : undefined;
  }

  /** Of a stored delivery the message is what matters: that the sweeper may leave it alone for longer is stored after it. */
  async function sendThenMark(waiting: WaitingDelivery, queued: WaitingDelivery): Promise<void> {
    await slowQueue.send(waiting);
    reportMove(waiting);
    await leaveToSweeper(waiting, () => store.update(waiting, queued));
  }

  /**
   * One write stores the delivery as sent already. Where the queue does not take its message, that is taken back, and the
   * sweeper finds it after 2 min. Where the process dies between the two, or gets no answer to the write, the message in hand
   * comes back and has it sent (`send-again.ts`); the sweeper finds it after 5 min.
   */
  async function storeThenSend(
    before: Delivery,
    { waiting, queued }: { readonly waiting: WaitingDelivery; readonly queued: WaitingDelivery },
    storeChange: StoreChange,
  ): Promise<void> {
    if (!(await storeUnlessStale(before, queued, storeChange, dependencies))) return;
    if (await sendOrLeave(slowQueue, queued, dependencies)) reportMove(queued);
    else await takeBack(waiting);
  }

  /** Reads what was stored as sent again: it has another version by now. */
  async function takeBack(waiting: WaitingDelivery): Promise<void> {
    await leaveToSweeper(waiting, async () => {
      const [stored] = await store.read([waiting.id]);
      if (stored?.attempt !== waiting.attempt || stored.wait?.slowLane !== 'queued') return;
      await store.update(stored, { ...stored, wait: waiting.wait });
    });
  }

  function reportMove(waiting: WaitingDelivery): void {
    count('MovedToSlowLane');
    log.info('delivery.moved', { ...describeDelivery(waiting), lane: 'slow' });
  }

  /** Stores for how long the sweeper leaves the delivery alone. Without it the sweeper is early or late. */
  async function leaveToSweeper(delivery: WaitingDelivery, storeMark: () => Promise<unknown>): Promise<void> {
    try {
      await storeMark();
    } catch (error) {
      log.warn('delivery.not_marked', { ...describeDelivery(delivery), ...describeError(error) });
    }
  }
}
