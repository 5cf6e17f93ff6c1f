import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { latenessOf, latenessOfTurn } from '../../lambdas/delivery/lateness.ts';
import { shownLateAfter } from '../../lambdas/delivery/limits.ts';
import { replaysPrefix } from '../../lambdas/delivery/replay/replay-store.ts';
import { dueShards, keysUntil, taskShard } from '../../lambdas/delivery/store/delivery-item.ts';
import { headKey } from '../../lambdas/delivery/store/head-key.ts';
import { batchGet, batchGetLimit } from '../../lambdas/platform/aws/batch-get.ts';
import type { Dynamo, Item } from '../../lambdas/platform/aws/dynamo.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';
import { openDeliveries } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';

/** Pending deliveries of one account and event that are late for one reason. */
export interface LateGroup {
  readonly account: string;
  readonly event: string;
  readonly cause: LateCause;
  /** `null`: of a replay that has not counted its deliveries yet. */
  readonly count: number | null;
  /** True where there may be more. */
  readonly isCutOff: boolean;
  /** Since when the first of them, or their turn, is late; of `own fault` when it is tried again. */
  readonly since: string;
  /** The first of them; of a replay, the replay. */
  readonly first: string;
}

/**
 * - `own fault`: a fault of our own stopped the last attempt. It is tried again within a quarter of an hour, and shown before it is late.
 * - `overdue`: its attempt is due, and nobody made it.
 * - `replay`: it waits in a replay that does not go on.
 */
export type LateCause = 'own fault' | 'overdue' | 'replay';

/** Late deliveries, the longest late first, and whether there may be more that were not read. */
export interface LateDeliveries {
  readonly groups: readonly LateGroup[];
  readonly isCutOff: boolean;
}

/** Finds pending deliveries that are late by three minutes, whatever they wait for (`lateness.ts`). Its reads are bounded. */
export async function findLate(target: Target, now: number): Promise<LateDeliveries> {
  const [overdue, unserved] = await Promise.all([findOverdue(target, now), findUnserved(target, now)]);
  const longestFirst = (one: { since: string }, other: { since: string }) => (one.since < other.since ? -1 : 1);
  return {
    groups: [...overdue.groups, ...unserved.groups].sort(longestFirst),
    isCutOff: overdue.isCutOff || unserved.isCutOff,
  };
}

/** Finds those that are due themselves, among the first ones that the sweeper looks at within half an hour. */
async function findOverdue(target: Target, now: number): Promise<LateDeliveries> {
  const pages = await Promise.all(
    dueShards.map(shard => readShard(openTable(target), shard, entriesOfShard, now + longestLook)),
  );
  const isCutOff = pages.some(page => page.isCutOff);
  const groups = new Map<string, LateGroup>();
  for await (const ids of inBatches(
    pages.flatMap(({ entries }) => entries.map(({ id }) => id)),
    batchGetLimit,
  )) {
    for (const { id, accountId: account, eventName: event, attempts, wait } of await openDeliveries(target).read(ids)) {
      if (!wait) continue; // it is held, and expires
      const isOurs = attempts.at(-1)?.result === 'internal';
      if (!isOurs && latenessOf(wait, now) < shownLateAfter) continue;
      const cause: LateCause = isOurs ? 'own fault' : 'overdue';
      const since = isoTime(wait.nextAttemptAt);
      const key = `${account} ${event} ${cause}`;
      const earlier = groups.get(key);
      const count = (earlier?.count ?? 0) + 1;
      const group = earlier && earlier.since <= since ? earlier : { account, event, cause, isCutOff, since, first: id };
      groups.set(key, { ...group, count });
    }
  }
  return { groups: [...groups.values()], isCutOff };
}

/** Finds the replays that do not go on. */
async function findUnserved(target: Target, now: number): Promise<LateDeliveries> {
  const { dynamo, table } = openTable(target);
  const { entries, isCutOff } = await readShard({ dynamo, table }, taskShard, mostTasks);
  const groups: LateGroup[] = [];
  for await (const ids of inBatches(
    entries.map(({ id }) => id),
    batchGetLimit,
  )) {
    const items = await batchGet(
      dynamo,
      ids.map(id => headKey(table, id)),
    );
    for (const item of items) {
      const [kind] = String(item?.id).split('#');
      if (item && kind === replaysPrefix) groups.push(...replayGroup(item, now));
    }
  }
  return { groups, isCutOff };
}

function replayGroup(item: Item, now: number): readonly LateGroup[] {
  const { state, startedAt, total, sent, countCursor } = item;
  const lateness = latenessOfTurn(turnOf(item), Number(startedAt), now);
  if (state !== 'running' || lateness < shownLateAfter) return [];
  const count = countCursor === null ? Number(total) - Number(sent) : null;
  const since = isoTime(now - lateness);
  return [{ ...ownerOf(item), cause: 'replay', count, isCutOff: false, since, first: String(item.replayId) }];
}

function ownerOf({ accountId, eventName }: Item) {
  return { account: String(accountId), event: String(eventName) };
}

function turnOf({ servedAt, nextSlotAt = 0 }: Item) {
  return { servedAt: servedAt === undefined ? undefined : Number(servedAt), nextSlotAt: Number(nextSlotAt) };
}

interface Table {
  readonly dynamo: Dynamo;
  readonly table: string;
}

function openTable(target: Target): Table {
  return { dynamo: target.dynamo, table: requireOutput(target, 'DeliveriesTable') };
}

/** Reads the first entries of a partition of index `due`. */
async function readShard({ dynamo, table }: Table, shard: string, most: number, until = endOfTime) {
  const answer = await dynamo(
    new QueryCommand({
      TableName: table,
      IndexName: 'due',
      KeyConditionExpression: 'dueShard = :shard AND dueAt <= :until',
      ExpressionAttributeValues: { ':shard': shard, ':until': keysUntil(until) },
      Limit: most,
    }),
  );
  const entries = (answer.Items ?? []).map(({ id, dueAt }) => ({ id: String(id), dueAt: String(dueAt) }));
  return { entries, isCutOff: answer.LastEvaluatedKey !== undefined };
}

/** Later than any entry, and of the same form. */
const endOfTime = Date.UTC(9999, 0);

/** Entries of one partition. */
const entriesOfShard = 250;

/** Tasks of the sweeper. */
const mostTasks = 1_000;

/** The sweeper may look so late at what is overdue, since it doubles its wait. Milliseconds. */
const longestLook = 30 * 60_000;
