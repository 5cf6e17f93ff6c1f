import { isThrottled } from '../../platform/aws/failed-call.ts';
import { type Clock, isoTime } from '../../platform/clock.ts';
import { chunksOf } from '../../platform/in-batches.ts';
import { describeError } from '../../platform/telemetry.ts';
import { type AttemptRecord, type Delivery, settled, type Wait, type WaitingDelivery } from '../delivery.ts';
import { type AttemptQueue, maxMessagesOfCall, trySendAll } from '../queues.ts';
import type { ContinueReplay } from '../replay/replay-runner.ts';
import { dueShards, replayShard } from '../store/delivery-item.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DueEntry } from '../store/due-index.ts';
import { describeDelivery, type SweepTelemetry } from '../telemetry.ts';
import { isTooOld, sweeperActsAt, waitAfterSweep } from '../transitions.ts';

/** Processes the due entries of the `due` index while `hasTime` returns true. */
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
    const state: SweepState = {
      onOverdue(milliseconds) {
        oldestDue = Math.max(oldestDue, milliseconds);
      },
      onFailure(error) {
        errors.push(error);
        return undefined;
      },
      isQueueDown: false,
    };
    const shardState: SweepState = {
      ...state,
      onFailure(error) {
        isTableBusy ||= isThrottled(error);
        return state.onFailure(error);
      },
    };
    // If the table throttles calls, another page would add to the load.
    const mayContinue = () => hasTime() && !isTableBusy;
    // Replays and shards run concurrently, so neither replays nor deliveries can use up all the time.
    await Promise.all([
      runReplays(hasTime, state).catch(state.onFailure),
      ...dueShards.map(shard => sweepShard(shard, mayContinue, shardState).catch(shardState.onFailure)),
    ]);
    if (errors.length === 0) return measure('OldestDue', oldestDue);
    const kinds = Map.groupBy(errors, error => describeError(error).errorName);
    const counted = [...kinds].map(([name, all]) => (all.length === 1 ? name : `${name} (${all.length} times)`));
    throw new Error(`The sweep failed: ${counted.join(', ')}`, { cause: errors.find(isThrottled) ?? errors[0] });
  };

  /** Continues several replays concurrently, because each may have thousands of deliveries. A failure does not stop the others. */
  async function runReplays(hasTime: () => boolean, { onFailure }: SweepState): Promise<void> {
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

  async function sweepShard(shard: string, mayContinue: () => boolean, state: SweepState): Promise<void> {
    let last: DueEntry | undefined;
    while (mayContinue()) {
      const isFirst = last === undefined;
      const entries = await store.due(shard, last);
      last = entries.at(-1);
      if (!last) return;
      await sweepPage(entries, isFirst, state);
    }
  }

  /** Claims the due deliveries of a page and sends their messages. A failed write does not stop the other deliveries. */
  async function sweepPage(entries: readonly DueEntry[], isFirst: boolean, state: SweepState): Promise<void> {
    const { onOverdue, onFailure } = state;
    const deliveries = await store.read(entries.map(({ id }) => id));
    const waiting = deliveries.filter(isWaiting);
    for (const { wait } of waiting) onOverdue(now() - wait.nextAttemptAt);
    const isDue = ({ wait }: WaitingDelivery) => sweeperActsAt(wait) <= now() && !state.isQueueDown;
    const toSend = waiting.filter(isDue);
    const claims = await Promise.all(toSend.map(delivery => claim(delivery, isFirst).catch(onFailure)));
    const claimed = claims.filter(delivery => delivery !== undefined);
    for (const batch of chunksOf(claimed, maxMessagesOfCall)) {
      const unsent = await trySendAll(retryQueue, batch, { log });
      if (unsent.length === batch.length) state.isQueueDown = true;
      await Promise.all(unsent.map(delivery => undoClaim(delivery, toSend).catch(onFailure)));
    }
  }

  /**
   * Undoes the claim of an overdue delivery if the queue rejected its message, so an unavailable queue does not double the wait every minute.
   * The claim of a long wait remains, because the queue may have accepted its message even if the response was lost.
   */
  async function undoClaim(claimed: WaitingDelivery, read: readonly WaitingDelivery[]): Promise<void> {
    const wait = read.find(({ id }) => id === claimed.id)?.wait;
    if (wait && wait.overdueCount < claimed.wait.overdueCount) await store.update(claimed, { ...claimed, wait });
  }

  /** Claims a delivery. Returns it with its new wait, or `undefined` if it ended or another process changed it first. */
  async function claim(delivery: WaitingDelivery, isFirst: boolean): Promise<WaitingDelivery | undefined> {
    const moment = now();
    const next = waitAfterSweep(delivery.wait, moment);
    const isOverdue = next.overdueCount > delivery.wait.overdueCount;
    const wait = isOverdue && isFirst ? withSamePosition(delivery.wait, next) : next;
    if (isOverdue && isTooOld(delivery, moment)) {
      await endUnrecorded(delivery);
      return undefined;
    }
    if (!(await store.claim(delivery, wait))) return undefined;
    if (isOverdue) log.warn('delivery.overdue', { ...describeDelivery(delivery), overdueCount: wait.overdueCount });
    return { ...delivery, wait, version: (delivery.version ?? 0) + 1 };
  }

  /** Ends an old delivery whose attempts are never recorded. Otherwise, the sweeper would resend its message forever. */
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

interface SweepState {
  /** Records by how many milliseconds a delivery is overdue. */
  readonly onOverdue: (milliseconds: number) => void;
  /** Records a failure, which the sweep throws when it ends. */
  readonly onFailure: (error: unknown) => undefined;
  /** True once the queue has rejected all messages of a call. The sweep then stops claiming. */
  isQueueDown: boolean;
}

/** Returns the next wait at the same position in the index, so each sweep reads the delivery, but resends it only as scheduled. */
function withSamePosition({ sweepAt }: Wait, next: Wait): Wait {
  return { ...next, sweepAt, claimedUntil: next.sweepAt };
}

function isWaiting(delivery: Delivery): delivery is WaitingDelivery {
  return delivery.wait !== undefined;
}

const replaysAtOnce = 3;
