import type { Clock } from '../../platform/clock.ts';
import { settled, type WaitingDelivery } from '../delivery.ts';
import { backlogShardsOf } from '../delivery-item.ts';
import type { DeliveryStore, DueEntry } from '../delivery-store.ts';
import { isSlow, slotInterval } from '../isolation/slowness.ts';
import type { SlownessStore, StoredSlowness } from '../isolation/slowness-store.ts';
import { backlogAttention, releasedPerSweep, releaseRate, slotsAhead } from '../limits.ts';
import { type RetryQueue, sendAllOrLeave } from '../queues.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import { isTooOld, queuedInSlowLane, scheduled, withSlot } from '../transitions.ts';
import type { Errand } from './sweep.ts';

/** What giving turns depends on. */
export interface SlowBacklogDependencies extends DeliveryTelemetry {
  readonly slownessStore: Pick<SlownessStore, 'read' | 'claim' | 'reserveUntil' | 'endBacklog' | 'endWaiting'>;
  readonly store: Pick<DeliveryStore, 'waitingForSlot' | 'update'>;
  readonly queues: Readonly<Record<'retry' | 'slow', Pick<RetryQueue, 'sendAll'>>>;
  /** Turns a second that a slow webhook has at most. */
  readonly slowRate: number;
  readonly now: Clock;
}

/** The turns until the next sweep, or what is released until then where the webhook is slow no more. */
export function planOf(slowness: StoredSlowness, slowRate: number, now: number): Plan {
  if (!isSlow(slowness)) return { to: 'retry', beginAt: now, interval: 1_000 / releaseRate, most: releasedPerSweep };
  const interval = slotInterval(slowness, slowRate);
  const beginAt = Math.max(slowness.nextSlotAt, now);
  return { to: 'slow', beginAt, interval, most: Math.max(0, Math.floor((now + slotsAhead - beginAt) / interval)) };
}

/**
 * Makes the sweeper's part in the slow lane: each minute it gives turns to what waits in the table, the longest due first,
 * or, once the webhook is slow no more, brings all of it forward.
 */
export function makeSlowBacklogTask(dependencies: SlowBacklogDependencies): Errand {
  const { slownessStore, store, queues, slowRate, now, log, count } = dependencies;

  const end = async (delivery: WaitingDelivery) => {
    if (!(await store.update(delivery, settled(delivery, 'failed', now())))) return;
    count('Exhausted');
    log.warn('delivery.too_old', describeDelivery(delivery));
  };

  const areSent = (batch: readonly WaitingDelivery[], to: Plan['to']) =>
    sendAllOrLeave(queues[to], batch, { log, count });

  /** The messages go first: until it is noted that they are there, the next sweep finds the deliveries waiting. */
  const giveToSlowLane = async (batch: readonly WaitingDelivery[]): Promise<boolean> => {
    if (!(await areSent(batch, 'slow'))) return false;
    await Promise.all(batch.map(delivery => store.update(delivery, queuedInSlowLane(delivery))));
    count('MovedToSlowLane', batch.length);
    return true;
  };

  /** The notes go first: the retry lane drops what still waits for a turn. What is not sent then is overdue after 2 min. */
  const bringForward = async (batch: readonly WaitingDelivery[]): Promise<boolean> => {
    const stored = await Promise.all(batch.map(delivery => store.update(delivery, delivery)));
    const due = batch.filter((_, index) => stored[index]);
    if (due.length === 0) return true;
    if (!(await areSent(due, 'retry'))) return false;
    count('BroughtForward', due.length);
    return true;
  };

  /** Gives whether all were handed over: what was not would be found again at once. */
  const giveTurns = async (deliveries: readonly WaitingDelivery[], plan: Plan, hasTime: () => boolean) => {
    let isComplete = true;
    const alive = deliveries.filter(delivery => !isTooOld(delivery, now()));
    const turns = alive.map((delivery, index) => {
      const at = plan.beginAt + index * plan.interval;
      return plan.to === 'slow' ? withSlot(delivery, at) : scheduled(delivery, now(), Math.max(0, at - now()));
    });
    for (let start = 0; start < turns.length && hasTime(); start += sendBatch * batchesAtOnce) {
      const batches = Array.from({ length: batchesAtOnce }, (_, index) => {
        const first = start + index * sendBatch;
        return turns.slice(first, first + sendBatch);
      });
      const handOver = plan.to === 'slow' ? giveToSlowLane : bringForward;
      const handedOver = await Promise.all(batches.filter(batch => batch.length > 0).map(handOver));
      isComplete &&= handedOver.every(isOver => isOver);
    }
    return isComplete;
  };

  /** Where all that waits gets a turn now, arrivals need not wait behind it. The task goes on until none can come any more. */
  const endWhereQuiet = async (slowness: StoredSlowness, found: number) => {
    if (found === 0 && now() - (slowness.waitingAt ?? 0) > backlogAttention) await slownessStore.endWaiting(slowness);
    else if (slowness.backlogAt !== undefined) await slownessStore.endBacklog(slowness);
  };

  return async function giveTurnsToBacklog(entry: DueEntry, hasTime) {
    if (!hasTime()) return; // turns that nobody gives out would be lost
    const read = await slownessStore.read(entry.id);
    if (read?.dueAt !== entry.dueAt) return; // the index is behind
    if (!(await slownessStore.claim(entry, now() + claimLength))) return;

    let slowness = read;
    let given = 0;
    const plan = planOf(slowness, slowRate, now());
    const shards = backlogShardsOf(slowness.accountId, slowness.eventName);
    while (hasTime()) {
      const beginAt = plan.beginAt + given * plan.interval;
      const most = Math.min(plan.most - given, chunk);
      const { deliveries, isAll } = await store.waitingForSlot(shards, most);
      await Promise.all(deliveries.filter(delivery => isTooOld(delivery, now())).map(end));
      if (plan.to === 'slow' && deliveries.length > 0) {
        const nextSlotAt = beginAt + deliveries.length * plan.interval;
        if (!(await slownessStore.reserveUntil(slowness, nextSlotAt))) return;
        slowness = { ...slowness, nextSlotAt };
      }
      if (isAll) await endWhereQuiet(slowness, given + deliveries.length); // only now: arrivals would reserve those very turns
      const isComplete = await giveTurns(deliveries, { ...plan, beginAt }, hasTime);
      given += deliveries.length;
      if (isAll || !isComplete || deliveries.length === 0) break;
    }
    if (given === 0) return;
    log.info('slow_lane.slots_given', {
      account: slowness.accountId,
      event: slowness.eventName,
      lane: plan.to,
      deliveries: given,
    });
  };
}

/** How the next deliveries are handed over. */
interface Plan {
  readonly to: 'retry' | 'slow';
  /** When the first attempt begins, and how long after it the second. */
  readonly beginAt: number;
  readonly interval: number;
  readonly most: number;
}

/** What a queue takes in one call. */
const sendBatch = 10;

/** Batches that are sent and stored at once. */
const batchesAtOnce = 8;

/** Nobody else takes the task in hand before the next sweep. Milliseconds. */
const claimLength = 50_000;

/** Deliveries that are read and handed over at a time: each may hold thirty attempts with a KiB of answer each. */
const chunk = 400;
