import { setTimeout as sleep } from 'node:timers/promises';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Dynamo, Item, ItemKey } from '../../lambdas/platform/aws/dynamo.ts';
import { inBatches } from '../../lambdas/platform/in-batches.ts';

/**
 * Deletes items of one table, whether or not they exist, with several requests at once. It may be repeated.
 * @param onDeleted - receives how many more were deleted, and which.
 * @throws {Error} when DynamoDB leaves deletions undone five times in a row, once no request is in flight. The deleted
 * items of a failed batch are not reported.
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

/** DynamoDB rejects a batch that names an item twice. A list of items that move while it is read may do so. */
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

/** The maximum for one BatchWriteItem call. */
const batchSize = 25;

/** Concurrent requests. */
const atOnce = 16;

const maxTries = 5;

/** Milliseconds. */
const firstPause = 50;
