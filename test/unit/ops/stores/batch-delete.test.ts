import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Item, ItemKey } from '../../../../lambdas/platform/aws/dynamo.ts';
import { batchDelete } from '../../../../ops/stores/batch-delete.ts';

type Requests = Record<string, { readonly DeleteRequest: { readonly Key: Item } }[]>;

/** Returns a store that leaves deletions unprocessed if `skips` returns true for the id and its number of previous calls. */
function storeOf(skips: (id: unknown, time: number) => boolean = () => false) {
  const deleted: unknown[] = [];
  const sizes: number[] = [];
  const calls = new Map<unknown, number>();
  const send = async ({ input }: { input: { RequestItems: Requests } }) => {
    const UnprocessedItems: Requests = {};
    sizes.push(Object.values(input.RequestItems).flat().length);
    for (const [table, requests] of Object.entries(input.RequestItems)) {
      for (const request of requests) {
        const { id } = request.DeleteRequest.Key;
        const time = calls.get(id) ?? 0;
        calls.set(id, time + 1);
        if (skips(id, time)) UnprocessedItems[table] = [...(UnprocessedItems[table] ?? []), request];
        else deleted.push(`${table} ${id}`);
      }
    }
    return { UnprocessedItems };
  };
  return { dynamo: send as never, deleted, sizes };
}

const keys = (count: number): ItemKey[] =>
  Array.from({ length: count }, (_, id) => ({ table: id % 3 === 0 ? 'Users' : 'Sessions', key: { id } }));
const nameOf = ({ table, key }: ItemKey) => `${table} ${key.id}`;

it('deletes each item of several tables once, in requests of 25, and reports the number', async () => {
  const deletesAll = fc.asyncProperty(fc.nat(700), async count => {
    const { dynamo, deleted, sizes } = storeOf();
    let reported = 0;
    await batchDelete(dynamo, keys(count), more => {
      reported += more;
    });
    expect(deleted.toSorted()).toEqual(keys(count).map(nameOf).toSorted());
    expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(25);
    expect(reported).toBe(count);
  });
  await fc.assert(deletesAll, { numRuns: 30 });
});

it('deletes and counts a repeated item once', async () => {
  const { dynamo, sizes } = storeOf();
  const counts: number[] = [];
  await batchDelete(dynamo, [...keys(3), ...keys(2)], more => counts.push(more));
  expect([sizes, counts]).toEqual([[3], [3]]);
});

it('after an error, reports the completed deletions and starts no more', async () => {
  const { dynamo, deleted } = storeOf();
  let reported = 0;
  const deleting = batchDelete(dynamo, keys(700), more => {
    reported += more;
    if (reported > 50) throw new Error('interrupted');
  });
  await expect(deleting).rejects.toThrow('interrupted');
  const { length } = deleted;
  expect(reported).toBe(length);
  await new Promise(setImmediate);
  expect(deleted).toHaveLength(length);
});

it('repeats unprocessed deletions', async () => {
  const { dynamo, deleted } = storeOf((id, time) => Number(id) % 7 === 0 && time === 0);
  await batchDelete(dynamo, keys(60));
  expect(new Set(deleted).size).toBe(60);
});
