import { contentsOfStateShard, dueShards, keysUntil } from '../../lambdas/delivery/store/delivery-item.ts';

import { QueryCommand, ScanCommand, type ScanCommandOutput } from '../../lambdas/platform/aws/documents.ts';
import type { Item } from '../../lambdas/platform/aws/dynamo.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { connectDynamo, openDeliveries } from './stores.ts';
import { requireOutput, type Target } from './target.ts';

/** The findings of a bounded look at the deliveries. */
export type DeliveriesView = Awaited<ReturnType<typeof readDeliveries>>;

/** Deliveries that are stuck for one reason, with the one that waits for the longest. */
export interface Stuck {
  /** A fault of our own stopped the last attempt, or the attempt is overdue. */
  readonly cause: 'own fault' | 'overdue';
  readonly count: number;
  readonly oldest: { readonly id: string; readonly account: string; readonly event: string; readonly due: string };
}

/**
 * Counts failed and held deliveries, as far as ten pages of some 5,000 go, and finds those that are stuck among the ones whose turn
 * is next.
 */
export async function readDeliveries(target: Target, now: number) {
  const [counted, stuck] = await Promise.all([countEnded(target), findStuck(target, now)]);
  return { ...counted, stuck };
}

async function countEnded(target: Target) {
  const dynamo = connectDynamo(target);
  const counts = new Map<string, Ended>();
  let [looked, from]: [number, Item | undefined] = [0, undefined];
  for (let page = 0; page < mostPages; page++) {
    const answer: ScanCommandOutput = await dynamo.send(
      new ScanCommand({
        TableName: requireOutput(target, 'DeliveriesTable'),
        IndexName: 'undelivered',
        ProjectionExpression: 'stateShard',
        ...(from && { ExclusiveStartKey: from }),
      }),
    );
    for (const { stateShard } of answer.Items ?? []) {
      const { accountId: account, eventName: event, state } = contentsOfStateShard(stateShard);
      if (state !== 'failed' && state !== 'held') continue;
      const key = `${account} ${event} ${state}`;
      counts.set(key, { account, event, state, count: (counts.get(key)?.count ?? 0) + 1 });
    }
    looked += answer.Items?.length ?? 0;
    from = answer.LastEvaluatedKey;
    if (!from) break;
  }
  const ended = [...counts.values()].sort((one, other) => other.count - one.count);
  const those = (state: Ended['state']) => ended.filter(found => found.state === state);
  return { looked, isCutOff: from !== undefined, failed: those('failed'), held: those('held') };
}

interface Ended {
  readonly account: string;
  readonly event: string;
  readonly state: 'failed' | 'held';
  readonly count: number;
}

async function findStuck(target: Target, now: number): Promise<readonly Stuck[]> {
  const dynamo = connectDynamo(target);
  const pages = await Promise.all(
    dueShards.map(shard =>
      dynamo.send(
        new QueryCommand({
          TableName: requireOutput(target, 'DeliveriesTable'),
          IndexName: 'due',
          KeyConditionExpression: 'dueShard = :shard AND dueAt <= :until',
          // A fault of our own is tried again within a quarter of an hour.
          ExpressionAttributeValues: { ':shard': shard, ':until': keysUntil(now + longestOwnWait) },
          Limit: lookedAtOfShard,
        }),
      ),
    ),
  );
  const ids = pages.flatMap(({ Items = [] }) => Items.map(({ id }) => String(id)));
  const found = await readAll(openDeliveries(target).read, ids);
  const stuck = new Map<Stuck['cause'], Stuck>();
  for (const { id, accountId: account, eventName: event, attempts, wait } of found) {
    if (!wait) continue; // it is held, and expires
    const isOverdue = wait.nextAttemptAt < now - longestDelay;
    const cause = attempts.at(-1)?.result === 'internal' ? 'own fault' : isOverdue ? 'overdue' : undefined;
    if (!cause) continue;
    const { count = 0, oldest } = stuck.get(cause) ?? {};
    const due = isoTime(wait.nextAttemptAt);
    stuck.set(cause, {
      cause,
      count: count + 1,
      oldest: oldest && oldest.due <= due ? oldest : { id, account, event, due },
    });
  }
  return [...stuck.values()];
}

async function readAll<Value>(read: (ids: readonly string[]) => Promise<readonly Value[]>, ids: readonly string[]) {
  const found: Value[] = [];
  for (let first = 0; first < ids.length; first += 100) found.push(...(await read(ids.slice(first, first + 100))));
  return found;
}

/** Pages of the index `undelivered` that are counted. */
const mostPages = 10;

/** Deliveries of each partition whose heads are read. */
const lookedAtOfShard = 25;

/** Milliseconds. */
const longestOwnWait = 15 * 60_000;

/** The sweeper brings back what is two minutes late: after five somebody should look. */
const longestDelay = 5 * 60_000;
