import { DeleteCommand, PutCommand, QueryCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { makeTables } from '../../src/dynamodb/tables.ts';
import { definitions } from './definitions.ts';

const TableName = 'Things';

test.each([true, false])('pages of an index whose keys are equal leave nothing out (forward: %s)', isForward => {
  const { execute } = makeTables({ definitions, now: () => 0 });
  const items = ['b', 'a', 'c'].flatMap(id =>
    [2, 10, 1].map(place => ({ id, place, owner: 'x', rank: place === 1 ? 0 : 5 })),
  );
  for (const Item of items) execute(new PutCommand({ TableName, Item }));
  const found: string[] = [];
  let from: Record<string, unknown> | undefined;
  do {
    const page = execute(
      new QueryCommand({
        TableName,
        IndexName: 'byRank',
        KeyConditionExpression: '#o = :o AND #r > :r',
        ExpressionAttributeNames: { '#o': 'owner', '#r': 'rank' },
        ExpressionAttributeValues: { ':o': 'x', ':r': 0 },
        Limit: 2,
        ScanIndexForward: isForward,
        ...(from && { ExclusiveStartKey: from }),
      }),
    );
    found.push(...(page.Items ?? []).map(({ id, place }) => `${id}${place}`));
    from = page.LastEvaluatedKey;
  } while (from);
  const expected = ['a2', 'a10', 'b2', 'b10', 'c2', 'c10'];
  expect(found).toEqual(isForward ? expected : expected.reverse());
});

test('a page ends with 1 MB', () => {
  const { execute } = makeTables({ definitions, now: () => 0 });
  for (let place = 0; place < 5; place++) {
    execute(new PutCommand({ TableName, Item: { id: 'a', place, body: 'x'.repeat(300 * 1_024) } }));
  }
  const condition = { KeyConditionExpression: 'id = :i', ExpressionAttributeValues: { ':i': 'a' } };
  const first = execute(new QueryCommand({ TableName, ...condition }));
  expect(first).toMatchObject({ Count: 4, LastEvaluatedKey: { id: 'a', place: 3 } });
  const second = execute(new QueryCommand({ TableName, ...condition, ExclusiveStartKey: first.LastEvaluatedKey }));
  expect(second).toMatchObject({ Count: 1, ScannedCount: 1 });
  expect(second.LastEvaluatedKey).toBeUndefined();
});

test('a scan in pages meets each item once, though what it has met is deleted', () => {
  const { execute } = makeTables({ definitions, now: () => 0 });
  const ids = Array.from({ length: 50 }, (_, at) => `id${at}`);
  for (const id of ids) for (const place of [1, 2]) execute(new PutCommand({ TableName, Item: { id, place } }));
  const found: string[] = [];
  let from: Record<string, unknown> | undefined;
  do {
    const page = execute(new ScanCommand({ TableName, Limit: 3, ...(from && { ExclusiveStartKey: from }) }));
    for (const { id, place } of page.Items ?? []) {
      found.push(`${id} ${place}`);
      execute(new DeleteCommand({ TableName, Key: { id, place } }));
    }
    from = page.LastEvaluatedKey;
  } while (from);
  expect(found.toSorted()).toEqual(ids.flatMap(id => [`${id} 1`, `${id} 2`]).toSorted());
});

test('an index sees writes late, and those of one item in their order', () => {
  let now = 0;
  const lags = [100, 10, 10, 0];
  const { execute } = makeTables({ definitions, now: () => now, indexLag: () => lags[Math.floor(calls++ / 3)] ?? 0 });
  let calls = 0; // three indexes are asked for each write
  const Key = { id: 'a', place: 1 };
  const set = (title: string) =>
    execute(
      new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: 'SET #o = :o, title = :t',
        ExpressionAttributeNames: { '#o': 'owner' },
        ExpressionAttributeValues: { ':o': 'x', ':t': title },
      }),
    );
  set('first');
  set('second');
  execute(new PutCommand({ TableName, Item: { id: 'b', place: 1, owner: 'x', title: 'other' } }));
  expect(titles()).toEqual([]);
  now = 10;
  expect(titles()).toEqual(['other']);
  now = 99;
  expect(titles()).toEqual(['other']);
  now = 100;
  expect(titles()).toEqual(['other', 'second']);
  execute(new DeleteCommand({ TableName, Key }));
  expect(titles()).toEqual(['other']);

  function titles() {
    const { Items = [] } = execute(
      new QueryCommand({
        TableName,
        IndexName: 'byTitle',
        KeyConditionExpression: '#o = :o',
        ExpressionAttributeNames: { '#o': 'owner' },
        ExpressionAttributeValues: { ':o': 'x' },
      }),
    );
    return Items.map(({ title }) => title);
  }
});
