import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactGetCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { makeTables, type TablesCommand } from '../../src/dynamodb/tables.ts';

// `lab/test/world/replay-dynamodb-local.test.ts` compares the responses with those of DynamoDB Local.

const TableName = 'Things';
const Key = { id: 'a', place: 1 };

test('stores items as the document client returns them, without sharing objects with callers', () => {
  const { execute, items } = make();
  const item = {
    ...Key,
    none: undefined,
    list: [1, undefined, { inner: 'x' }, null, true, ''],
    bytes: Uint8Array.of(1),
    big: 2n ** 50n,
  };
  execute(new PutCommand({ TableName, Item: item }));
  item.list.push(2);
  item.bytes[0] = 9;
  const stored = { ...Key, list: [1, { inner: 'x' }, null, true, ''], bytes: Uint8Array.of(1), big: 2 ** 50 };
  const read = execute(new GetCommand({ TableName, Key })).Item;
  expect(read).toEqual(stored);
  read?.bytes.fill(7);
  read?.list.pop();
  expect(items(TableName)).toEqual([stored]);
});

test.each<readonly [string, TablesCommand<object>]>([
  ['the operation TransactGetItems', new TransactGetCommand({ TransactItems: [] })],
  ['the option ReturnConsumedCapacity', new GetCommand({ TableName, Key, ReturnConsumedCapacity: 'TOTAL' })],
  ['the operator size', new DeleteCommand({ TableName, Key, ConditionExpression: 'size(a)' })],
  ['the operator >= in a key condition', query({ KeyConditionExpression: '#o = :o AND score >= :r' })],
  ['":w" after', update('SET amount = :w + :v')],
  ['"." after', update('SET thing.amount = :v')],
  ['the number 1.5', new PutCommand({ TableName, Item: { ...Key, amount: 1.5 } })],
  ['"ADD" after "" in an expression', update('ADD amount :v')],
  ['sets', new PutCommand({ TableName, Item: { ...Key, all: new Set([1]) } })],
  ['the statement', new BatchExecuteStatementCommand({ Statements: [{ Statement: 'SELECT * FROM "Things"' }] })],
])('throws a non-DynamoDB error for an unsupported feature: %s', (feature, command) => {
  expect(() => make().execute(command)).toThrow(`This DynamoDB does not support ${feature}`);
});

test('accepts a reserved word as an attribute name', () => {
  expect(make().execute(update('SET status = :v'))).toEqual({});
});

test('returns all items of a scan in pages, even if the caller deletes the items of earlier pages', () => {
  const { execute } = make();
  const ids = ['a', 'b', 'c', 'd', 'e'];
  for (const id of ids) for (const place of [1, 2]) execute(new PutCommand({ TableName, Item: { id, place } }));
  const found: unknown[] = [];
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = execute(new ScanCommand({ TableName, Limit: 3, ExclusiveStartKey }));
    for (const item of page.Items ?? []) {
      found.push(item.id);
      execute(new DeleteCommand({ TableName, Key: item }));
    }
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  expect(found.toSorted()).toEqual(ids.flatMap(id => [id, id]));
});

test('delays the effects of writes on index reads and eventually consistent reads', () => {
  let now = 0;
  const { execute } = make(
    () => now,
    () => 100,
  );
  const put = (place: number, text: string, score = place) =>
    execute(new PutCommand({ TableName, Item: { ...Key, place, text, owner: 'x', score } }));
  const readAll = (ConsistentRead: boolean) => {
    const { Item } = execute(new GetCommand({ TableName, Key, ConsistentRead }));
    const { Responses } = execute(new BatchGetCommand({ RequestItems: { Things: { Keys: [Key], ConsistentRead } } }));
    const partition = { KeyConditionExpression: 'id = :x', ExpressionAttributeValues: { ':x': 'a' } };
    const { Items } = execute(new QueryCommand({ TableName, ConsistentRead, ...partition }));
    return [Item?.text, Responses?.Things?.[0]?.text, Items?.map(({ text }) => text)];
  };
  const index = () => execute(query({})).Items?.map(({ place, score }) => [place, score]);
  put(1, 'old');
  put(2, 'deleted');
  now = 150;
  put(1, 'new', 5);
  put(1, 'newest', 6);
  put(3, 'added');
  execute(new DeleteCommand({ TableName, Key: { ...Key, place: 2 } }));
  expect(readAll(true)).toEqual(['newest', 'newest', ['newest', 'added']]);
  expect([readAll(false), index()]).toEqual([
    ['old', 'old', ['old', 'deleted']],
    [
      [1, 1],
      [2, 2],
    ],
  ]);
  now = 250;
  expect([readAll(false), index()]).toEqual([
    readAll(true),
    [
      [3, 3],
      [1, 6],
    ],
  ]);
});

function make(now = () => 0, lag = () => 0) {
  const keyOf = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' as const },
    { AttributeName: range, KeyType: 'RANGE' as const },
  ];
  const definition = {
    TableName,
    AttributeDefinitions: Object.entries({ id: 'S', place: 'N', owner: 'S', score: 'N' } as const).map(
      ([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }),
    ),
    KeySchema: keyOf('id', 'place'),
    GlobalSecondaryIndexes: [
      {
        IndexName: 'byScore',
        KeySchema: keyOf('owner', 'score'),
        Projection: { ProjectionType: 'KEYS_ONLY' as const },
      },
    ],
  };
  return makeTables({ definitions: [definition], now, lag });
}

function update(UpdateExpression: string): UpdateCommand {
  return new UpdateCommand({ TableName, Key, UpdateExpression, ExpressionAttributeValues: { ':v': 1 } });
}

function query(options: object): QueryCommand {
  return new QueryCommand({
    TableName,
    IndexName: 'byScore',
    KeyConditionExpression: '#o = :o AND score <= :r',
    ExpressionAttributeNames: { '#o': 'owner' },
    ExpressionAttributeValues: { ':o': 'x', ':r': 9 },
    ...options,
  });
}
