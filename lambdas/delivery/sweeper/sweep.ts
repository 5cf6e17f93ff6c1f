import { isThrottled } from '../../platform/aws/failed-call.ts';
import { type Clock, isoTime } from '../../platform/clock.ts';
import { chunksOf } from '../../platform/in-batches.ts';
import { describeError } from '../../platform/telemetry.ts';
import { type AttemptRecord, type Delivery, settled, type Wait, type WaitingDelivery } from '../delivery.ts';
import { type AttemptQueue, maxMessagesOfCall, sendAllOrLeave } from '../queues.ts';
import type { ContinueReplay } from '../replay/replay-runner.ts';
import { dueShards, replayShard } from '../store/delivery-item.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DueEntry } from '../store/due-index.ts';
import { describeDelivery, type SweepTelemetry } from '../telemetry.ts';
import { isTooOld, sweeperActsAt, waitAfterSweep } from '../transitions.ts';

/** Handles all entries of index `due` that the sweeper must check by now, for as long as `hasTime` returns true. */
export type Sweep = (hasTime: () => boolean) => Promise<void>;

/** Creates the sweeper. `due-index.ts` explains how the sweeper and the queues share the waits. */
export function makeSweep(
  dependencies: SweepTelemetry & {
    readonly store: Pick<DeliveryStore, 'due' | 'read' | 'claim' | 'update'>;
    readonly retryQueue: Pick<AttemptQueue, 'sendAll'>;
    readonly continueReplay: ContinueReplay;
    readonly now: Clock;
  },
): Sweep {
  const { store, retryQueue, continueReplay, now, log, measure } = dependencies;

  return async function sweep(hasTime) {
    let oldestDue = 0;
    let isTableBusy = false;
    const errors: unknown[] = [];
    const notes: Notes = {
      onLate(lateness) {
        oldestDue = Math.max(oldestDue, lateness);
      },
      onFailure(error) {
        errors.push(error);
        return undefined;
      },
      isQueueDown: false,
    };
    const ofShards: Notes = {
      ...notes,
      onFailure(error) {
        isTableBusy ||= isThrottled(error);
        return notes.onFailure(error);
      },
    };
    // If the table throttles, a further page would add to the load.
    const goesOn = () => hasTime() && !isTableBusy;
    // These run concurrently, so that neither many deliveries nor long replays use up the time.
    await Promise.all([
      runReplays(hasTime, notes).catch(notes.onFailure),
      ...dueShards.map(shard => sweepShard(shard, goesOn, ofShards).catch(ofShards.onFailure)),
    ]);
    if (errors.length === 0) return measure('OldestDue', oldestDue);
    const kinds = Map.groupBy(errors, error => describeError(error).errorName);
    const counted = [...kinds].map(([name, all]) => (all.length === 1 ? name : `${name} (${all.length} times)`));
    throw new Error(`The sweep failed: ${counted.join(', ')}`, { cause: errors.find(isThrottled) ?? errors[0] });
  };

  /** Continues a few replays at once, since each may have thousands of deliveries. A failure does not stop the others. */
  async function runReplays(hasTime: () => boolean, { onFailure }: Notes): Promise<void> {
    const runFrom = async (entries: DueEntry[]) => {
      for (let entry = entries.shift(); entry && hasTime(); entry = entries.shift()) {
        await continueReplay(entry.id, hasTime).catch(onFailure);
      }
    };
    let last: DueEntry | undefined;
    while (hasTime()) {
      const entries = await store.due(replayShard, last);
      last = entries.at(-1);
      if (!last) break;
      await Promise.all(Array.from({ length: replaysAtOnce }, () => runFrom(entries)));
    }
  }

  async function sweepShard(shard: string, goesOn: () => boolean, notes: Notes): Promise<void> {
    let last: DueEntry | undefined;
    while (goesOn()) {
      const isFirst = last === undefined;
      const entries = await store.due(shard, last);
      last = entries.at(-1);
      if (!last) return;
      await sweepPage(entries, isFirst, notes);
    }
  }

  /** Claims a page. A failed write does not stop the others, because claimed deliveries must be sent. */
  async function sweepPage(entries: readonly DueEntry[], isFirst: boolean, notes: Notes): Promise<void> {
    const { onLate, onFailure } = notes;
    const deliveries = await store.read(entries.map(({ id }) => id));
    const waiting = deliveries.filter(isWaiting);
    for (const { wait } of waiting) onLate(now() - wait.nextAttemptAt);
    const isDue = ({ wait }: WaitingDelivery) => sweeperActsAt(wait) <= now() && !notes.isQueueDown;
    const toSend = waiting.filter(isDue);
    const claims = await Promise.all(toSend.map(delivery => claim(delivery, isFirst).catch(onFailure)));
    const claimed = claims.filter(delivery => delivery !== undefined);
    for (const batch of chunksOf(claimed, maxMessagesOfCall)) {
      const unsent = await sendAllOrLeave(retryQueue, batch, { log });
      if (unsent.length === batch.length) notes.isQueueDown = true; // further claims would be in vain
      await Promise.all(unsent.map(delivery => giveBack(delivery, toSend).catch(onFailure)));
    }
  }

  /**
   * Undoes the claim of an overdue delivery that a queue rejected, so that an unavailable queue does not double the wait each minute. The
   * claim of a long wait stays, because a resend could overtake a message that was accepted although its response was lost.
   */
  async function giveBack(claimed: WaitingDelivery, read: readonly WaitingDelivery[]): Promise<void> {
    const wait = read.find(({ id }) => id === claimed.id)?.wait;
    if (wait && wait.overdueCount < claimed.wait.overdueCount) await store.update(claimed, { ...claimed, wait });
  }

  /** Returns the delivery to send, or `undefined` if the index was behind or another sweeper was faster. */
  async function claim(delivery: WaitingDelivery, isFirst: boolean): Promise<WaitingDelivery | undefined> {
    const moment = now();
    const next = waitAfterSweep(delivery.wait, moment);
    const isOverdue = next.overdueCount > delivery.wait.overdueCount;
    const wait = isOverdue && isFirst ? inItsPlace(delivery.wait, next) : next;
    if (isOverdue && isTooOld(delivery, moment)) {
      await endUnrecorded(delivery);
      return undefined;
    }
    if (!(await store.claim(delivery, wait))) return undefined;
    if (isOverdue) log.warn('delivery.overdue', { ...describeDelivery(delivery), overdueCount: wait.overdueCount });
    return { ...delivery, wait, version: (delivery.version ?? 0) + 1 };
  }

  /** Ends an old delivery whose attempts are never recorded, because the sweeper would otherwise resend it forever. */
  async function endUnrecorded(delivery: WaitingDelivery): Promise<void> {
    const record: AttemptRecord = {
      number: delivery.attempt,
      startedAt: isoTime(delivery.wait.nextAttemptAt),
      durationMs: 0,
      result: 'internal',
      cause: null,
      status: null,
      response: null,
    };
    const attempts = [...delivery.attempts, record];
    const after = settled({ ...delivery, attempt: delivery.attempt + 1, attempts }, 'failed', now());
    if (!(await store.update(delivery, after))) return;
    log.error('delivery.unrecorded', describeDelivery(delivery));
  }
}

/** The results that a sweep collects while it runs. */
interface Notes {
  /** Records by how many milliseconds a delivery is overdue. */
  readonly onLate: (lateness: number) => void;
  /** Records a failure. The sweep throws it after the rest is done. */
  readonly onFailure: (error: unknown) => undefined;
  /** True once the queue rejected all messages of a call. The sweep then stops claiming. */
  isQueueDown: boolean;
}

/** Returns the wait of an overdue delivery. It stays in place in the index, so that each sweep sees it, and is resent as scheduled. */
function inItsPlace({ sweepAt }: Wait, next: Wait): Wait {
  return { ...next, sweepAt, claimedUntil: next.sweepAt };
}

function isWaiting(delivery: Delivery): delivery is WaitingDelivery {
  return delivery.wait !== undefined;
}

const replaysAtOnce = 3;
