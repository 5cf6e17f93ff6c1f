import type { Clock } from '../../platform/clock.ts';
import { settled, type WaitingDelivery } from '../delivery.ts';
import { isSlow, slotInterval } from '../isolation/slowness.ts';
import type { SlownessStore, StoredSlowness } from '../isolation/slowness-store.ts';
import { backlogAttention, releasedPerSweep, releaseRate, slotsAhead } from '../limits.ts';
import type { AttemptQueue } from '../queues.ts';
import { backlogShardsOf } from '../store/delivery-item.ts';
import type { DeliveryStore, DueTask } from '../store/delivery-store.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import { isTooOld, queuedInSlowLane, scheduled, withSlot } from '../transitions.ts';

/** The dependencies of the task. */
export interface SlowBacklogDependencies extends DeliveryTelemetry {
  readonly slownessStore: Pick<SlownessStore, 'read' | 'claim' | 'reserveUntil' | 'endBacklog' | 'endWaiting'>;
  readonly store: Pick<DeliveryStore, 'waitingForSlot' | 'update'>;
  readonly queues: Readonly<Record<'retry' | 'slow', Pick<AttemptQueue, 'sendAll'>>>;
  /** The most slots per second of a slow webhook. */
  readonly slowRate: number;
  readonly now: Clock;
}

/**
 * Makes the sweeper's task for slow webhooks: each minute it assigns slots to the deliveries that wait in the table, the longest
 * due first. Once the webhook is quick again, it releases them to the retry lane.
 */
export function makeSlowBacklogTask(dependencies: SlowBacklogDependencies): DueTask {
  const { slownessStore, store, queues, slowRate, now, log, count } = dependencies;

  /** Throws when the queue does not answer: the sweep fails then, and its alarm goes off. */
  const areSent = async (batch: readonly WaitingDelivery[], to: Plan['to']): Promise<boolean> => {
    const failed = await queues[to].sendAll(batch);
    if (failed === 0) return true;
    count('AttemptNotSent', failed);
    log.error('delivery.not_sent', { failed });
    return false;
  };

  return async function runSlowBacklogTask(entry, hasTime) {
    if (!hasTime()) return; // reserved slots would be lost
    const read = await slownessStore.read(entry.id);
    if (read?.dueAt !== entry.dueAt) return; // the index is behind
    if (!(await slownessStore.claim(entry, now() + claimLength))) return;

    let slowness = read;
    let given = 0;
    const plan = planOf(slowness, slowRate, now());
    const shards = backlogShardsOf(slowness.accountId, slowness.eventName);
    while (hasTime()) {
      const beginAt = plan.beginAt + given * plan.interval;
      const { deliveries, isAll } = await store.waitingForSlot(shards, Math.min(plan.most - given, chunkSize));
      await Promise.all(deliveries.filter(delivery => isTooOld(delivery, now())).map(endTooOld));
      if (plan.to === 'slow' && deliveries.length > 0) {
        const nextSlotAt = beginAt + deliveries.length * plan.interval;
        if (!(await slownessStore.reserveUntil(slowness, nextSlotAt))) {
          log.warn('slow_lane.slots_not_reserved', { account: slowness.accountId, event: slowness.eventName });
          return;
        }
        slowness = { ...slowness, nextSlotAt };
      }
      if (isAll) await endWhereQuiet(slowness, given + deliveries.length); // after the reservation: arrivals reserve slots too
      const isComplete = await handOver(deliveries, { ...plan, beginAt }, hasTime);
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

  async function endTooOld(delivery: WaitingDelivery): Promise<void> {
    if (!(await store.update(delivery, settled(delivery, 'failed', now())))) return;
    count('Exhausted');
    log.warn('delivery.too_old', describeDelivery(delivery));
  }

  /**
   * Once every waiting delivery gets a slot now, arrivals need not wait behind them. The task itself goes on until no late
   * arrival is possible.
   */
  async function endWhereQuiet(slowness: StoredSlowness, found: number): Promise<void> {
    if (found === 0 && now() - (slowness.waitingAt ?? 0) > backlogAttention) await slownessStore.endWaiting(slowness);
    else if (slowness.backlogAt !== undefined) await slownessStore.endBacklog(slowness);
  }

  /** Returns whether all were handed over: those that were not would be found again at once. */
  async function handOver(
    deliveries: readonly WaitingDelivery[],
    plan: Plan,
    hasTime: () => boolean,
  ): Promise<boolean> {
    let isComplete = true;
    const alive = deliveries.filter(delivery => !isTooOld(delivery, now()));
    const slots = alive.map((delivery, index) => {
      const at = plan.beginAt + index * plan.interval;
      return plan.to === 'slow' ? withSlot(delivery, at) : scheduled(delivery, now(), Math.max(0, at - now()));
    });
    const handOverBatch = plan.to === 'slow' ? giveToSlowLane : releaseBacklog;
    for (let start = 0; start < slots.length && hasTime(); start += sendBatch * batchesAtOnce) {
      const batches = Array.from({ length: batchesAtOnce }, (_, index) => {
        const first = start + index * sendBatch;
        return slots.slice(first, first + sendBatch);
      });
      const results = await Promise.all(batches.filter(batch => batch.length > 0).map(handOverBatch));
      isComplete &&= results.every(isOver => isOver);
    }
    return isComplete;
  }

  /** Sends first, then stores: until it is stored that the messages are sent, the next sweep finds the deliveries waiting. */
  async function giveToSlowLane(batch: readonly WaitingDelivery[]): Promise<boolean> {
    if (!(await areSent(batch, 'slow'))) return false;
    await Promise.all(batch.map(delivery => store.update(delivery, queuedInSlowLane(delivery))));
    count('MovedToSlowLane', batch.length);
    return true;
  }

  /** Stores first, then sends: the retry lane drops what still waits for a slot. What is not sent is overdue after 2 min. */
  async function releaseBacklog(batch: readonly WaitingDelivery[]): Promise<boolean> {
    const stored = await Promise.all(batch.map(delivery => store.update(delivery, delivery)));
    const due = batch.filter((_, index) => stored[index]);
    if (due.length > 0 && (await areSent(due, 'retry'))) count('BacklogReleased', due.length);
    return true;
  }
}

/** Plans the slots until the next sweep, or what is released until then when the webhook is quick again. */
export function planOf(slowness: StoredSlowness, slowRate: number, now: number): Plan {
  if (!isSlow(slowness)) return { to: 'retry', beginAt: now, interval: 1_000 / releaseRate, most: releasedPerSweep };
  const interval = slotInterval(slowness, slowRate);
  const beginAt = Math.max(slowness.nextSlotAt, now);
  return { to: 'slow', beginAt, interval, most: Math.max(0, Math.floor((now + slotsAhead - beginAt) / interval)) };
}

/** The plan by which the next deliveries are handed over. */
interface Plan {
  readonly to: 'retry' | 'slow';
  /** The moment when the first attempt begins, in milliseconds since the epoch. */
  readonly beginAt: number;
  /** Milliseconds between two attempts. */
  readonly interval: number;
  /** The most deliveries until the next sweep. */
  readonly most: number;
}

/** The most messages of one SQS call. */
const sendBatch = 10;

/** Batches that are sent and stored at the same time. */
const batchesAtOnce = 8;

/** The time that a claim lasts, in milliseconds: less than a minute, so that the next sweep can claim again. */
const claimLength = 50_000;

/** Deliveries that are read at a time: each may hold thirty attempts with a KiB of response each. */
const chunkSize = 400;
