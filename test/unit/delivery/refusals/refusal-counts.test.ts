import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, expect, it } from 'vitest';
import { makeRefusalCounts, makeRefusalTotals } from '../../../../lambdas/delivery/refusals/refusal-counts.ts';
import { headKey } from '../../../../lambdas/delivery/store/head-key.ts';
import { startDatabase } from '../../../support/database/database.ts';
import { noon } from '../builders.ts';

const database = await startDatabase('Deliveries');
afterAll(() => database.stop());

const minute = { principal: 'publisher', reason: 'malformed', beganAt: noon } as const;
const id = `refusals#${new Date(noon).toISOString()}#malformed#publisher`;
const parts = () => ({ dynamo: database.dynamo, table: 'Deliveries', now: () => noon, random: Math.random });

it('adds what processes of the release before refused, beyond the ten that they gave notice of', async () => {
  const before = { ...minute, refused: 12, ttl: noon };
  for (const [itemId, refused] of [
    [id, 12],
    [`${id}#3`, 5],
  ] as const) {
    const Item = { ...headKey('Deliveries', itemId).key, ...before, refused };
    await database.dynamo(new PutCommand({ TableName: 'Deliveries', Item }));
  }
  await makeRefusalCounts(parts()).keepBack(minute, 4, false);
  expect(await makeRefusalTotals(parts()).read(id)).toMatchObject({ keptBack: 12 + 5 - 10 + 4 });
});

// A sweeper of the release before threw at an item without it, each minute, and wrote no metric.
it('leaves the attribute that a sweeper of the release before requires', async () => {
  const other = { ...minute, principal: 'another' };
  await makeRefusalCounts(parts()).keepBack(other, 1, false);
  const { key } = headKey('Deliveries', id.replace('publisher', 'another'));
  const { Item } = await database.dynamo(new GetCommand({ TableName: 'Deliveries', Key: key }));
  expect(Item).toMatchObject({ refused: 0 });
});
