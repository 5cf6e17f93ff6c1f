import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Difference, type Outcome, replay } from '../../src/dynamodb/replay.ts';
import { makeTables } from '../../src/dynamodb/tables.ts';
import { definitions } from './definitions.ts';
import { startDynalite } from './dynalite.ts';
import { randomOperations } from './random-operations.ts';

const translate = { marshallOptions: { removeUndefinedValues: true }, unmarshallOptions: { wrapNumbers: Number } };
let dynalite: Awaited<ReturnType<typeof startDynalite>>;

beforeAll(async () => {
  dynalite = await startDynalite(translate);
});

afterAll(() => dynalite.stop());

test('random operations have the answers of dynalite', async () => {
  let failed: readonly Difference[] = [];
  const likeDynalite = fc.asyncProperty(randomOperations(), async operations => {
    await dynalite.empty();
    const { execute } = makeTables({ definitions, now: () => 0, translate });
    const differences = await replay(operations, execute, dynalite.client);
    const unexpected = differences.filter(difference => !exceptions.some(({ isMet }) => isMet(difference)));
    if (unexpected.length > 0) failed = unexpected;
    return unexpected.length === 0;
  });
  const { failed: isFailed, seed, counterexamplePath, errorInstance } = await fc.check(likeDynalite, { numRuns: 30 });
  if (!isFailed) return;
  expect(failed, `seed ${seed}, path ${counterexamplePath}`).toEqual([]);
  throw errorInstance; // it broke off before it could compare
});

/** Where dynalite is known to be wrong. */
const exceptions: readonly { readonly reason: string; readonly isMet: (difference: Difference) => boolean }[] = [
  {
    reason: 'dynalite takes an empty string as the value of a key, where DynamoDB refuses it',
    isMet: ({ operation, input, virtual }) =>
      operation === 'QueryCommand' &&
      virtual.error === 'ValidationException' &&
      /":[iot]":""/.test(JSON.stringify(input)),
  },
  {
    reason: 'dynalite returns an empty map where DynamoDB returns no attributes: none of the updated ones is there',
    isMet: ({ virtual, real }) => isDeepStrictEqual({ ...virtual, Attributes: {} }, real),
  },
  {
    reason: 'dynalite orders items whose keys of an index are equal by a digest, and so its pages differ',
    isMet: ({ operation, input, virtual, real }) =>
      operation === 'QueryCommand' &&
      'IndexName' in input &&
      isDeepStrictEqual(rangeKeysOf(virtual, input), rangeKeysOf(real, input)),
  },
];

/** Returns how many items a page read, and the keys of those it has in its index. A filter leaves others of a part of equal items. */
function rangeKeysOf({ Items, ScannedCount }: Outcome, input: object): unknown {
  const isPartFiltered = 'FilterExpression' in input && 'Limit' in input && input.Limit !== undefined;
  const items: unknown[] = Array.isArray(Items) && !isPartFiltered ? Items : [];
  const range = 'IndexName' in input && input.IndexName === 'byRank' ? 'rank' : 'title';
  return [ScannedCount, ...items.map(item => JSON.stringify(item, [range]))];
}
