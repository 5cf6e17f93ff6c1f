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
 * Hands a delivery over to the slow lane: with the next turn of its webhook to the slow queue, or, where that is too far
 * off, to the table, where it waits for the sweeper to give it one (`slow-backlog.ts`). Throws only when that could not
 * be stored, or when the message of a delivery that was stored before could not be sent.
 */
export type MoveToSlowLane = (delivery: Delivery, slowness: StoredSlowness, save: Save) => Promise<void>;

/** What handing over depends on. */
export interface HandOverDependencies extends DeliveryTelemetry {
  readonly slownessStore: Pick<SlownessStore, 'reserve' | 'beginWaiting'>;
  readonly store: Pick<DeliveryStore, 'update'>;
  readonly slowQueue: Pick<RetryQueue, 'send'>;
  readonly now: Clock;
}

/** Makes the handing over to the slow lane. */
export function makeMoveToSlowLane(dependencies: HandOverDependencies): MoveToSlowLane {
  const { slownessStore, store, slowQueue, now, log, count } = dependencies;

  const saveOrDrop = async (before: Delivery, after: Delivery, save: Save): Promise<boolean> => {
    if (await save(after)) return true;
    count('StaleDropped');
    log.info('delivery.stale', describeDelivery(before));
    return false;
  };

  const waitInTable = async (delivery: Delivery, slowness: StoredSlowness, save: Save) => {
    await slownessStore.beginWaiting(slowness);
    if (!(await saveOrDrop(delivery, waitingForSlot(delivery, now()), save))) return;
    count('WaitsForSlot');
    log.info('delivery.waits_for_slot', describeDelivery(delivery));
  };

  /** The message is what matters: that the sweeper may leave it alone for longer is stored after it. */
  const send = async (waiting: WaitingDelivery) => {
    await slowQueue.send(waiting);
    count('MovedToSlowLane');
    log.info('delivery.moved', { ...describeDelivery(waiting), lane: 'slow' });
    try {
      await store.update(waiting, queuedInSlowLane(waiting));
    } catch (error) {
      log.warn('delivery.not_marked', { ...describeDelivery(waiting), ...describeError(error) });
    }
  };

  /** What somebody brought forward comes now, before what waits: that is limited to one a second. */
  const turnOf = async ({ broughtForward }: Delivery, slowness: StoredSlowness): Promise<number | undefined> => {
    if (broughtForward) return now();
    return slowness.backlogAt === undefined ? slownessStore.reserve(slowness) : undefined;
  };

  return async function handOver(delivery, slowness, save) {
    if (isTooOld(delivery, now())) {
      const ended = settled(delivery, 'failed', now());
      if (!(await saveOrDrop(delivery, ended, save))) return;
      count('Exhausted');
      log.warn('delivery.too_old', describeDelivery(delivery));
      return;
    }
    const turnAt = await turnOf(delivery, slowness);
    if (turnAt === undefined) return waitInTable(delivery, slowness, save);
    const waiting = withSlot(delivery, turnAt);
    if (delivery.wait) return send(waiting);
    if (await saveOrDrop(delivery, waiting, save)) await sendOrLeave({ send }, waiting, dependencies);
  };
}
