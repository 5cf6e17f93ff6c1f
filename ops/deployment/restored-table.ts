import { isDeepStrictEqual } from 'node:util';
import { PutCommand, ScanCommand, type ScanCommandOutput } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../lambdas/platform/aws/batch-get.ts';
import { type Dynamo, type Item, type ItemKey, UnprocessedKeysError } from '../../lambdas/platform/aws/dynamo.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';
import type { Pause } from '../../lambdas/platform/timer.ts';
import { isNamed } from '../stage/operator.ts';

/** A table of the stage, and another that AWS restored an earlier moment of it into. */
export interface RestoredTable {
  /** The name of the stage's table. */
  readonly table: string;
  /** The name of the other one. */
  readonly restored: string;
  /** The attributes of the key that both have. */
  readonly keyNames: readonly string[];
}

/** The items of the restored table, by what the stage's table has in their place. */
export interface Comparison {
  /** All of them. */
  readonly restored: number;
  /** The same item. */
  readonly same: number;
  /** An item that was changed since. */
  readonly changed: number;
  /** Nothing. */
  readonly missing: number;
  /** Nothing, and their time has passed: they are gone for good. */
  readonly expired: number;
}

/**
 * Reads the restored table and looks for each of its items in the stage's. Memory is bounded by what is read at once.
 *
 * @param onMissing - is given each item that is missing and not expired.
 * @param onChanged - is given each item that was changed since.
 * @param now - seconds since the epoch.
 */
export async function compareTables(
  dynamo: Dynamo,
  { table, restored, keyNames }: RestoredTable,
  {
    now,
    pause,
    onMissing = async () => {},
    onChanged = () => {},
    onProgress = () => {},
  }: {
    readonly now: number;
    readonly pause: Pause;
    readonly onMissing?: (item: Item) => Promise<void>;
    readonly onChanged?: (item: Item) => void;
    readonly onProgress?: (comparison: Comparison) => void;
  },
): Promise<Comparison> {
  const counts = { restored: 0, same: 0, changed: 0, missing: 0, expired: 0 };
  const batches = inBatches(scan(dynamo, restored), batchSize);
  let isStopped = false;
  // When one fails, the others end what they have in hand, and nothing is written after that.
  throwFirst(await Promise.allSettled(Array.from({ length: atOnce }, () => work().catch(stop))));
  return counts;

  async function work(): Promise<void> {
    for (let next = await batches.next(); !next.done && !isStopped; next = await batches.next()) {
      await compareBatch(next.value);
      onProgress(counts);
    }
  }

  function stop(error: unknown): never {
    isStopped = true;
    throw error;
  }

  async function compareBatch(items: readonly Item[]): Promise<void> {
    const keyOf = (item: Item) => Object.fromEntries(keyNames.map(name => [name, item[name]]));
    const keys = items.map(item => ({ table, key: keyOf(item) }));
    const present = await readPatiently(dynamo, keys, pause);
    throwFirst(await Promise.allSettled(items.map((item, at) => judge(item, present[at]).catch(stop))));
  }

  async function judge(item: Item, present: Item | undefined): Promise<void> {
    const isExpired = typeof item.ttl === 'number' && item.ttl <= now;
    const verdict = present
      ? isDeepStrictEqual(item, present)
        ? 'same'
        : 'changed'
      : isExpired
        ? 'expired'
        : 'missing';
    counts.restored += 1;
    counts[verdict] += 1;
    if (verdict === 'changed') onChanged(item);
    if (verdict === 'missing') await onMissing(item);
  }
}

/** @throws the reason of the first that was rejected. */
function throwFirst(results: readonly PromiseSettledResult<void>[]): void {
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Puts an item into a table, unless it has one under that key by now. Returns whether it did. */
export async function putMissing(
  dynamo: Dynamo,
  { table, keyNames }: Pick<RestoredTable, 'table' | 'keyNames'>,
  item: Item,
): Promise<boolean> {
  try {
    await dynamo(
      new PutCommand({
        TableName: table,
        Item: item,
        ConditionExpression: 'attribute_not_exists(#key)',
        ExpressionAttributeNames: { '#key': keyNames[0] ?? '' },
      }),
    );
    return true;
  } catch (error) {
    if (isNamed(error, 'ConditionalCheckFailedException')) return false;
    throw error;
  }
}

/** Reads items; waits where their partition is busy, since the items of one scan lie side by side. */
async function readPatiently(dynamo: Dynamo, keys: readonly ItemKey[], pause: Pause) {
  for (let wait = firstPause; ; wait *= 2) {
    try {
      return await batchGet(dynamo, keys);
    } catch (error) {
      if (!(error instanceof UnprocessedKeysError) || wait > longestPause) throw error;
      await pause(wait);
    }
  }
}

async function* scan(dynamo: Dynamo, table: string): AsyncGenerator<Item> {
  let from: Item | undefined;
  do {
    const page: ScanCommandOutput = await dynamo(new ScanCommand({ TableName: table, ExclusiveStartKey: from }));
    yield* page.Items ?? [];
    from = page.LastEvaluatedKey;
  } while (from);
}

/** A BatchGetItem returns 16 MB at most, and an item has 400 kB at most. */
const batchSize = 40;

/** Batches at once. */
const atOnce = 4;

/** Milliseconds. */
const firstPause = 100;
const longestPause = 10_000;
