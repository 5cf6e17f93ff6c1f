import { type Delivery, isTest } from '../../../lambdas/delivery/delivery.ts';
import { replaysPrefix } from '../../../lambdas/delivery/replay/replay-store.ts';
import type { Item } from '../../../lambdas/platform/aws/dynamo.ts';
import { minute } from '../times.ts';
import type { WatchedTables } from '../watched-tables.ts';

/** The history of a replay. */
export interface ReplayRun {
  readonly id: string;
  /** The first version of the replay. */
  readonly first: Item;
  /** The last version of the replay. */
  readonly last: Item;
  readonly startedAt: number;
  /** The time at which the replay ended, or `Infinity` if it did not end. */
  readonly endedAt: number;
}

/** Returns the runs of all replays, by id. Reads the versions of each webhook's latest replay, and ignores the copies of earlier replays. */
export function readReplayRuns(watched: WatchedTables): ReadonlyMap<string, ReplayRun> {
  const runs = new Map<string, ReplayRun>();
  for (const [key, changes] of watched.changesOf('Deliveries')) {
    if (!key.startsWith(`${replaysPrefix}#`) || !key.endsWith(' head')) continue;
    let latest: string | undefined;
    for (const { at, item } of changes) {
      const id = item && String(item.replayId);
      const before = latest === undefined ? undefined : runs.get(latest);
      if (before && before.id !== id && before.last.state === 'running') {
        // Another replay, or the deletion of the account, ends the run.
        runs.set(before.id, { ...before, last: { ...before.last, state: 'cancelled' }, endedAt: at });
      }
      latest = id;
      if (!item || id === undefined) continue;
      const run = runs.get(id) ?? { id, first: item, startedAt: at, endedAt: Number.POSITIVE_INFINITY };
      const endedAt = item.state === 'running' ? Number.POSITIVE_INFINITY : Math.min(run.endedAt, at);
      runs.set(id, { ...run, last: item, endedAt });
    }
  }
  return runs;
}

/** Returns whether a replay selects a delivery in its current state. */
export function selectsDelivery({ first }: Pick<ReplayRun, 'first'>, delivery: Delivery): boolean {
  const { accountId, webhookId, sourceState, from, to, startedAt } = first;
  const isOwn = delivery.accountId === accountId && delivery.webhookId === webhookId && !isTest(delivery);
  const isInRange = delivery.createdAt >= Number(from) && delivery.createdAt < Number(to);
  return isOwn && isInRange && delivery.state === sourceState && Number(delivery.settledAt) < Number(startedAt);
}

/** Returns whether a replay may have resent a delivery at a given time. A cancelled replay stops within 2 minutes. */
export function mayHaveResent(run: ReplayRun, before: Delivery, at: number): boolean {
  return selectsDelivery(run, before) && at >= run.startedAt && at <= run.endedAt + maxStopDelay;
}

const maxStopDelay = 2 * minute;
