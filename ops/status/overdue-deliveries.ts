import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { dueShards, keysUntil } from '../../lambdas/delivery/store/delivery-item.ts';
import { batchGetLimit } from '../../lambdas/platform/aws/batch-get.ts';
import { isoTime } from '../../lambdas/platform/clock.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';
import { openDeliveries } from '../stage/stores.ts';
import { requireOutput, type Target } from '../stage/target.ts';

/** The overdue deliveries of one account and event with the same cause. */
export interface OverdueGroup {
  readonly account: string;
  readonly event: string;
  readonly cause: OverdueCause;
  readonly count: number;
  /** The time at which the first delivery was due. For `internal error`, the time of the next attempt. */
  readonly since: string;
  /** The id of the first delivery. */
  readonly first: string;
}

/**
 * - `internal error`: An internal error stopped the last attempt. The service repeats the attempt within 15 minutes.
 * - `overdue`: The attempt is due but was not made.
 */
export type OverdueCause = 'internal error' | 'overdue';

/** Overdue deliveries, longest overdue first. `isCutOff` is true if there may be more that were not read. */
export interface OverdueDeliveries {
  readonly groups: readonly OverdueGroup[];
  readonly isCutOff: boolean;
}

/** Finds pending deliveries that are at least 3 minutes overdue or had an internal error, with a bounded number of reads. */
export async function findOverdue(target: Target, now: number): Promise<OverdueDeliveries> {
  const pages = await Promise.all(dueShards.map(shard => readShard(target, shard, now + maxSweepDelay)));
  const isCutOff = pages.some(page => page.isCutOff);
  const groups = new Map<string, OverdueGroup>();
  for await (const ids of inBatches(
    pages.flatMap(({ ids: read }) => read),
    batchGetLimit,
  )) {
    for (const { id, accountId: account, eventName: event, internalErrors, wait } of await openDeliveries(target).read(
      ids,
    )) {
      if (!wait) continue;
      const isInternalError = internalErrors > 0;
      if (!isInternalError && now - wait.nextAttemptAt < toleratedMs) continue;
      const cause: OverdueCause = isInternalError ? 'internal error' : 'overdue';
      const since = isoTime(wait.nextAttemptAt);
      const key = `${account} ${event} ${cause}`;
      const previous = groups.get(key);
      const count = (previous?.count ?? 0) + 1;
      const group = previous && previous.since <= since ? previous : { account, event, cause, since, first: id };
      groups.set(key, { ...group, count });
    }
  }
  const longestFirst = [...groups.values()].sort((one, other) => (one.since < other.since ? -1 : 1));
  return { groups: longestFirst, isCutOff };
}

/** Reads the first entries of a `due` index partition. */
async function readShard(target: Target, shard: string, until: number) {
  const { Items = [], LastEvaluatedKey } = await target.dynamo(
    new QueryCommand({
      TableName: requireOutput(target, 'DeliveriesTable'),
      IndexName: 'due',
      KeyConditionExpression: 'dueShard = :shard AND dueAt <= :until',
      ExpressionAttributeValues: { ':shard': shard, ':until': keysUntil(until) },
      Limit: entriesOfShard,
    }),
  );
  const ids = Items.map(({ id }) => String(id));
  return { ids, isCutOff: LastEvaluatedKey !== undefined };
}

/** The maximum number of entries read from one partition. */
const entriesOfShard = 250;

/** The maximum time between two reads of an overdue delivery by the sweeper, which doubles its wait. In milliseconds. */
const maxSweepDelay = 30 * 60_000;

/** The delay after which a delivery is shown as overdue. In milliseconds. */
const toleratedMs = 180_000;
