import type { Clock } from '../../platform/clock.ts';
import { chunksOf } from '../../platform/in-batches.ts';
import type { Webhook } from '../../webhooks/webhook.ts';
import type { Delivery, WaitingDelivery } from '../delivery.ts';
import { isSlow, nextSlots, type Slots, type Slowness, slotInterval } from '../isolation/slowness.ts';
import type { SlownessStore, StoredSlowness } from '../isolation/slowness-store.ts';
import { latenessOfTurn } from '../lateness.ts';
import { backlogAttention, releasedPerSweep, releaseRate, slotsAhead, taskClaimLength } from '../limits.ts';
import { type AttemptQueue, mostMessagesOfCall } from '../queues.ts';
import { backlogShardsOf } from '../store/delivery-item.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DueTask, Span } from '../store/due-index.ts';
import { endTooOld, endUnattempted } from '../store/end-unattempted.ts';
import type { FindWebhook } from '../store/find-webhook.ts';
import type { StoreChange } from '../store/store-unless-stale.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { isTooOld, queuedInSlowLane, released, unattemptedEndOf, withSlot } from '../transitions.ts';
import type { WebhookHealth } from '../worker/webhook-health.ts';

export interface SlowBacklogDependencies extends DeliveryTelemetry {
  readonly slownessStore: Pick<
    SlownessStore,
    'read' | 'claim' | 'reserveUntil' | 'noteServed' | 'endBacklog' | 'endWaiting'
  >;
  readonly store: Pick<DeliveryStore, 'waitingForSlot' | 'update'>;
  readonly findWebhook: FindWebhook;
  readonly health: Pick<WebhookHealth, 'suspendAfterEnd'>;
  readonly queues: Readonly<Record<'retry' | 'slow', Pick<AttemptQueue, 'sendAll'>>>;
  readonly slowRate: number;
  readonly now: Clock;
}

/**
 * Makes the sweeper's task for slow webhooks: each minute it assigns slots to the deliveries that wait in the table, the longest
 * due first. Once the webhook is quick again, it releases them to the retry lane. What waits for an earlier registration, or for a
 * webhook that is suspended, ends and takes no slot.
 */
export function makeSlowBacklogTask(dependencies: SlowBacklogDependencies): DueTask {
  const { slownessStore, store, findWebhook, health, queues, slowRate, now, log, count } = dependencies;

  /** Throws when the queue does not answer: the sweep fails then, and its alarm goes off. */
  const areSent = async (batch: readonly WaitingDelivery[], to: Plan['to']): Promise<boolean> => {
    const { length: failed } = await queues[to].sendAll(batch);
    if (failed === 0) return true;
    count('AttemptNotSent', failed);
    log.error('delivery.not_sent', { failed });
    return false;
  };

  return async function runSlowBacklogTask(entry, hasTime) {
    if (!hasTime()) return; // reserved slots would be lost
    const slowness = await slownessStore.read(entry.id);
    if (slowness?.dueAt !== entry.dueAt) return; // the index is behind
    if (!(await slownessStore.claim(entry, now() + taskClaimLength))) return;

    const { accountId, eventName, waitingAt = 0 } = slowness;
    const webhook = await findWebhook(accountId, eventName);
    const registeredAt = webhook?.status === 'active' ? webhook.createdAt - clockTolerance : now();
    const task: Task = {
      id: entry.id,
      read: slowness,
      slowness,
      beganAt: now(),
      found: 0,
      given: 0,
      isServed: false,
      hasTime,
    };
    // A registration's own come first: they do not wait until all that waits for earlier ones has ended.
    const spans = [{ from: registeredAt }, { before: registeredAt }];
    let isAllRead = true;
    for (const span of spans) isAllRead = (await serve(task, span)) && isAllRead;
    // What was not read may still wait: without the task nobody would find it.
    const isEmpty = isAllRead && task.found === 0;
    if (isEmpty && now() - waitingAt > backlogAttention) await slownessStore.endWaiting(slowness);
    if (task.isServed) await slownessStore.noteServed(slowness);
    const { given, longestDue, isServed } = task;
    const { to: lane } = planFor(task);
    if (given > 0) log.info('slow_lane.slots_given', { account: accountId, event: eventName, lane, deliveries: given });
    if (longestDue === undefined || (isServed && slowness.servedAt === undefined)) return;
    return latenessOfTurn(slowness, longestDue, now()); // as it was before this sweep
  };

  /**
   * Serves the deliveries that were due in a span, until all have slots or have ended, or no slot or no time is left. Returns whether the
   * span was read to its end.
   */
  async function serve(task: Task, due: Span): Promise<boolean> {
    const { accountId, eventName, backlogAt } = task.read;
    const shards = backlogShardsOf(accountId, eventName);
    const isPresent = due.from !== undefined;
    while (task.hasTime()) {
      const most = isPresent ? planFor(task).most : releasedPerSweep - task.found;
      const { deliveries, isAll } = await store.waitingForSlot(shards, Math.min(most, chunkSize), due);
      task.found += deliveries.length;
      const [longest] = deliveries;
      if (longest)
        task.longestDue = Math.min(task.longestDue ?? longest.wait.nextAttemptAt, longest.wait.nextAttemptAt);
      const attemptable = await endUnattemptable(task, deliveries);
      task.isServed ||= attemptable.length < deliveries.length;
      const plan = await takeNextSlots(task, attemptable.length);
      if (!plan) return false;
      const areAllServed = isAll && plan.most === attemptable.length;
      // After the reservation arrivals need not wait behind those that wait: they reserve slots, too.
      if (isPresent && areAllServed && backlogAt !== undefined) await slownessStore.endBacklog(task.read);
      const isComplete = await handOver(attemptable.slice(0, plan.most), plan, task.hasTime);
      task.isServed ||= isComplete && plan.most > 0;
      if (isAll || !isComplete || plan.most < attemptable.length || deliveries.length === 0) return isAll;
    }
    return false;
  }

  /**
   * Ends what needs no slot, and returns the others. The webhook is read after the deliveries: one that does not belong to it then
   * never will, whatever is registered meanwhile.
   */
  async function endUnattemptable(
    { read: { accountId, eventName } }: Task,
    deliveries: readonly WaitingDelivery[],
  ): Promise<readonly WaitingDelivery[]> {
    if (deliveries.length === 0) return deliveries;
    const webhook = await findWebhook(accountId, eventName);
    const attemptable: WaitingDelivery[] = [];
    let failed: Delivery | undefined;
    for (const some of chunksOf(deliveries, endedAtOnce)) {
      const kept = await Promise.all(some.map(delivery => endOrKeep(delivery, webhook)));
      attemptable.push(...some.filter((delivery, index) => kept[index] === delivery));
      failed ??= kept.find(delivery => delivery?.state === 'failed');
    }
    // One of them decides: each would write to the webhook. What has a slot by now is held at its turn.
    if (webhook && failed) await health.suspendAfterEnd(webhook, failed);
    return attemptable;
  }

  /** Returns the delivery if it goes on, or has ended as failed. */
  async function endOrKeep(delivery: WaitingDelivery, webhook: Webhook | undefined): Promise<Delivery | undefined> {
    const storeChange: StoreChange = after => store.update(delivery, after);
    const end = unattemptedEndOf(delivery, webhook);
    if (end) return void (await endUnattempted(delivery, end, storeChange, dependencies));
    return isTooOld(delivery, now()) ? endTooOld(delivery, storeChange, dependencies) : delivery;
  }

  /**
   * Takes the next slots, as many as are wanted or left until the next sweep. Returns the plan for just these. Where others reserve
   * at the same moment, it takes those after theirs; `undefined`: it lost every race.
   */
  async function takeNextSlots(task: Task, wanted: number): Promise<Plan | undefined> {
    for (let tries = 1; tries <= maxTries; tries++) {
      const plan = planFor(task);
      const slots = Math.min(wanted, plan.most);
      const after = { ...plan.slots, nextSlotAt: plan.beginAt + slots * plan.interval };
      const isNothing = plan.to === 'retry' || slots === 0;
      if (isNothing || (await slownessStore.reserveUntil(task.slowness, after))) {
        task.given += slots;
        if (!isNothing) task.slowness = { ...task.slowness, ...after };
        return { ...plan, most: slots };
      }
      task.slowness = (await slownessStore.read(task.id)) ?? task.slowness;
    }
    log.warn('slow_lane.slots_not_reserved', { account: task.read.accountId, event: task.read.eventName });
    return undefined;
  }

  /** Returns the plan for what the task has not given yet. */
  function planFor({ slowness, beganAt, given }: Task): Plan {
    const plan = planOf(slowness, slowRate, now());
    if (plan.to === 'slow') return plan;
    return { ...plan, beginAt: beganAt + given * plan.interval, most: plan.most - given };
  }

  /** Returns whether all were handed over: those that were not would be found again at once. */
  async function handOver(
    deliveries: readonly WaitingDelivery[],
    plan: Plan,
    hasTime: () => boolean,
  ): Promise<boolean> {
    let isComplete = true;
    const slots = deliveries.map((delivery, index) => {
      const at = plan.beginAt + index * plan.interval;
      if (plan.to === 'retry') return released(delivery, now(), Math.max(0, at - now()));
      return withSlot(delivery, { at, series: plan.slots.slotSeries }, now());
    });
    const handOverBatch = plan.to === 'slow' ? giveToSlowLane : releaseBacklog;
    for (const batches of chunksOf(chunksOf(slots, mostMessagesOfCall), batchesAtOnce)) {
      if (!hasTime()) break;
      const results = await Promise.all(batches.map(handOverBatch));
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
export function planOf(slowness: Slowness & Slots, slowRate: number, now: number): Plan {
  if (!isSlow(slowness)) {
    return { to: 'retry', beginAt: now, interval: 1_000 / releaseRate, most: releasedPerSweep, slots: slowness };
  }
  const interval = slotInterval(slowness, slowRate);
  const { firstAt: beginAt, after: slots } = nextSlots(slowness, interval, now);
  const most = Math.max(0, Math.floor((now + slotsAhead - beginAt) / interval));
  return { to: 'slow', beginAt, interval, most, slots };
}

interface Task {
  readonly id: string;
  /** The slowness as it was before anything was seen waiting. */
  readonly read: StoredSlowness;
  /** The same as it is now, as far as it is known. */
  slowness: StoredSlowness;
  readonly beganAt: number;
  /** Deliveries that were found waiting. */
  found: number;
  /** Deliveries that were given slots. */
  given: number;
  /** When the first of those that were found was due. */
  longestDue?: number;
  /** True once any was handed over or has ended. */
  isServed: boolean;
  readonly hasTime: () => boolean;
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
  /** The slots that the first of them is the next of; a release has none. */
  readonly slots: Slots;
}

/** The times that slots are tried to be taken while others take some. */
const maxTries = 5;

/** Batches that are sent and stored at the same time. */
const batchesAtOnce = 8;

/** Milliseconds. A delivery that was due this long before its webhook was registered belongs to an earlier one, however clocks differ. */
const clockTolerance = 60_000;

/** Deliveries that are read at a time: each may hold thirty attempts with a KiB of response each. */
const chunkSize = 400;

/** Deliveries that end at the same time, a few writes each: other webhooks' tasks and the deliveries that are due share the connections. */
const endedAtOnce = 50;
