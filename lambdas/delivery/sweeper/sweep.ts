import type { Clock } from '../../platform/clock.ts';
import { describeError } from '../../platform/telemetry.ts';
import { type AttemptRecord, type Delivery, settled, type WaitingDelivery } from '../delivery.ts';
import { dueShards, taskShard } from '../delivery-item.ts';
import type { DeliveryStore, DueEntry } from '../delivery-store.ts';
import { type RetryQueue, sendAllOrLeave } from '../queues.ts';
import { type DeliveryTelemetry, describeDelivery } from '../telemetry.ts';
import { isTooOld, waitAfterSweep } from '../transitions.ts';

/** Does what an entry of index `due` stands for that is no delivery, and goes on for as long as `hasTime` says so. */
export type Errand = (entry: DueEntry, hasTime: () => boolean) => Promise<void>;

/** What the sweeper stands on. */
export interface SweepDependencies extends DeliveryTelemetry {
  readonly store: Pick<DeliveryStore, 'due' | 'read' | 'claim' | 'update' | 'expire'>;
  readonly queues: Readonly<Record<'retry' | 'slow', Pick<RetryQueue, 'sendAll'>>>;
  /** By what comes before the first `#` of an entry's id. */
  readonly errands: Readonly<Record<string, Errand>>;
  readonly now: Clock;
}

/** Goes through everything that must be looked at by now, for as long as `hasTime` says so. */
export type Sweep = (hasTime: () => boolean) => Promise<void>;

/** Makes the sweeper; `delivery-store.ts` tells how it and the queue share the waits. */
export function makeSweep({ store, queues, errands, now, log, count }: SweepDependencies): Sweep {
  const isWaiting = (delivery: Delivery): delivery is WaitingDelivery => delivery.wait !== undefined;

  /** A delivery whose attempts never get recorded must not go on for ever. */
  const end = async (delivery: WaitingDelivery) => {
    const record: AttemptRecord = {
      number: delivery.attempt,
      startedAt: new Date(delivery.wait.nextAttemptAt).toISOString(),
      durationMs: 0,
      result: 'internal',
      status: null,
      response: null,
    };
    const attempts = [...delivery.attempts, record];
    const after = settled({ ...delivery, attempt: delivery.attempt + 1, attempts }, 'failed', now());
    if (!(await store.update(delivery, after))) return;
    count('Exhausted');
    log.error('delivery.unrecorded', describeDelivery(delivery));
  };

  /** Gives what the caller must send: nothing, where the index was behind or somebody else was quicker. */
  const claim = async (delivery: WaitingDelivery): Promise<WaitingDelivery | undefined> => {
    const moment = now();
    const wait = waitAfterSweep(delivery.wait, moment);
    const isOverdue = wait.overdueCount > delivery.wait.overdueCount;
    if (isOverdue && isTooOld(delivery, moment)) {
      await end(delivery);
      return undefined;
    }
    if (!(await store.claim(delivery, wait))) return undefined;
    count(isOverdue ? 'SweptOverdue' : 'SweptDue');
    if (isOverdue) log.warn('delivery.overdue', { ...describeDelivery(delivery), overdueCount: wait.overdueCount });
    return { ...delivery, wait };
  };

  /** What is not sent now was claimed all the same, and is found overdue at its next look. */
  const sendInBatches = async (deliveries: readonly WaitingDelivery[], to: 'retry' | 'slow') => {
    for (let start = 0; start < deliveries.length; start += sendBatch) {
      await sendAllOrLeave(queues[to], deliveries.slice(start, start + sendBatch), { log, count });
    }
  };

  const expire = async (entries: readonly DueEntry[], deliveries: readonly Delivery[]) => {
    const held = new Set(deliveries.filter(({ state }) => state === 'held').map(({ id }) => id));
    const expired = await Promise.all(entries.filter(({ id }) => held.has(id)).map(store.expire));
    const counted = expired.filter(isExpired => isExpired).length;
    if (counted > 0) count('HeldExpired', counted);
  };

  const handle = async (entries: readonly DueEntry[]) => {
    const deliveries = await store.read(entries.map(({ id }) => id));
    await expire(entries, deliveries);
    const due = deliveries.filter(isWaiting).filter(({ wait }) => wait.slowLane !== 'waiting' && wait.sweepAt <= now());
    const claimed = (await Promise.all(due.map(claim))).filter(delivery => delivery !== undefined);
    const inSlowLane = ({ wait }: WaitingDelivery) => wait.slowLane === 'queued';
    await sendInBatches(claimed.filter(inSlowLane), 'slow');
    await sendInBatches(
      claimed.filter(delivery => !inSlowLane(delivery)),
      'retry',
    );
  };

  const sweepShard = async (shard: string, hasTime: () => boolean): Promise<void> => {
    let last: DueEntry | undefined;
    while (hasTime()) {
      const entries = await store.due(shard, last);
      last = entries.at(-1);
      if (!last) return;
      await handle(entries);
    }
  };

  /** A few at once: each may have thousands of deliveries in hand. One that fails does not keep the others from their turn. */
  const runTasks = async (hasTime: () => boolean): Promise<void> => {
    const failures: unknown[] = [];
    const runSome = async (entries: DueEntry[]) => {
      for (let entry = entries.shift(); entry && hasTime(); entry = entries.shift()) {
        const errand = errands[entry.id.split('#', 1)[0] ?? ''];
        await errand?.(entry, hasTime).catch(error => failures.push(error));
      }
    };
    let last: DueEntry | undefined;
    while (hasTime()) {
      const entries = await store.due(taskShard, last);
      last = entries.at(-1);
      if (!last) break;
      await Promise.all(Array.from({ length: tasksAtOnce }, () => runSome(entries)));
    }
    if (failures.length > 0) throw new AggregateError(failures);
  };

  return async function sweep(hasTime) {
    // Side by side: neither many deliveries nor long tasks may take all the time.
    const sweeps = [runTasks(hasTime), ...dueShards.map(shard => sweepShard(shard, hasTime))];
    const rejected = (await Promise.allSettled(sweeps)).filter(({ status }) => status === 'rejected');
    const reasons = (rejected as PromiseRejectedResult[]).map(({ reason }) => reason);
    const errors = reasons.flatMap(reason => (reason instanceof AggregateError ? reason.errors : [reason]));
    if (errors.length === 0) return;
    throw new Error(`The sweep failed: ${errors.map(error => describeError(error).errorName).join(', ')}`);
  };
}

/** What a queue takes in one call. */
const sendBatch = 10;

/** Tasks that are done at once. */
const tasksAtOnce = 3;
