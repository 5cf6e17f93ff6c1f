import { setTimeout as sleep } from 'node:timers/promises';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Dynamo, Item, ItemKey } from '../../lambdas/platform/aws/dynamo.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';

/**
 * Deletes items of one table, whether or not they exist, with several concurrent requests. The call can be repeated.
 * @param onDeleted - receives the number of further deleted items, and their keys.
 * @throws {Error} if DynamoDB returns unprocessed deletions five times in a row, once no request is in flight. The
 * deleted items of a failed batch are not reported.
 */
export async function batchDelete(
  dynamo: Dynamo,
  keys: AsyncIterable<ItemKey> | Iterable<ItemKey>,
  onDeleted: (count: number, keys: readonly ItemKey[]) => void = () => {},
): Promise<void> {
  const batches = inBatches(keys, batchSize);
  const failures: unknown[] = [];
  await Promise.all(Array.from({ length: atOnce }, () => work().catch(error => failures.push(error))));
  if (failures.length > 0) throw failures[0];

  async function work(): Promise<void> {
    for (let next = await batches.next(); !next.done && failures.length === 0; next = await batches.next()) {
      const keys = withoutRepeats(next.value);
      await deleteBatch(dynamo, keys);
      onDeleted(keys.length, keys);
    }
  }
}

/** Removes duplicates, because DynamoDB rejects a batch with duplicates. A list of items that move may contain them. */
function withoutRepeats(keys: readonly ItemKey[]): readonly ItemKey[] {
  return [...new Map(keys.map(itemKey => [JSON.stringify(itemKey), itemKey])).values()];
}

async function deleteBatch(dynamo: Dynamo, keys: readonly ItemKey[]): Promise<void> {
  let pending: Record<string, Item[]> = {};
  for (const { table, key } of keys) {
    const requests = pending[table] ?? [];
    requests.push({ DeleteRequest: { Key: key } });
    pending[table] = requests;
  }
  for (let tries = 0; Object.keys(pending).length > 0; tries++) {
    if (tries === maxTries) throw new Error('DynamoDB is busy. Repeat the command to delete the rest.');
    if (tries > 0) await sleep(firstPause * 2 ** tries);
    const answer = await dynamo(new BatchWriteCommand({ RequestItems: pending }));
    pending = (answer.UnprocessedItems ?? {}) as Record<string, Item[]>;
  }
}

/** The maximum number of items in one BatchWriteItem call. */
const batchSize = 25;

/** The maximum number of concurrent requests. */
const atOnce = 16;

const maxTries = 5;

/** In milliseconds. */
const firstPause = 50;
