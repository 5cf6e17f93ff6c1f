import { setTimeout as sleep } from 'node:timers/promises';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Dynamo, Item, ItemKey } from '../../lambdas/platform/aws/dynamo.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';

/**
 * Deletes items, whether or not they exist, with concurrent requests. The call can be repeated.
 * @param onDeleted - receives the number and the keys of newly deleted items. It is not called for a failed batch.
 * @throws {Error} if DynamoDB returns unprocessed deletions five times in a row. No request is then in flight.
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

/** Removes duplicates, because DynamoDB rejects a batch with duplicates. A list contains an item twice if the item moves during the read. */
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
    if (tries === maxTries) throw new Error('DynamoDB is busy. Run the command again to delete the rest.');
    if (tries > 0) await sleep(firstPause * 2 ** tries);
    const response = await dynamo(new BatchWriteCommand({ RequestItems: pending }));
    pending = (response.UnprocessedItems ?? {}) as Record<string, Item[]>;
  }
}

/** The maximum number of items in one BatchWriteItem call. */
const batchSize = 25;

/** The maximum number of concurrent requests. */
const atOnce = 16;

const maxTries = 5;

/** Half the pause before the second try, in milliseconds. Each further pause is twice as long. */
const firstPause = 50;
