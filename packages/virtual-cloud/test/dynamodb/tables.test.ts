import {
  BatchExecuteStatementCommand,
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { makeTables, type TablesCommand } from '../../src/dynamodb/tables.ts';

// That DynamoDB Local answers alike is tested by `lab/test/world/replay-dynamodb-local.test.ts`.

const TableName = 'Things';
const Key = { id: 'a', place: 1 };

test('items are kept as the document client would give them back, and nobody else holds them', () => {
  const { execute, items } = make();
  const item = {
    ...Key,
    none: undefined,
    list: [1.5, undefined, { inner: 'x' }],
    bytes: Uint8Array.of(1),
    big: 2n ** 60n,
  };
  execute(new PutCommand({ TableName, Item: item }));
  item.list.push(2);
  item.bytes[0] = 9;
  const kept = { ...Key, list: [1.5, { inner: 'x' }], bytes: Uint8Array.of(1), big: 2 ** 60 };
  const read = execute(new GetCommand({ TableName, Key })).Item;
  expect(read).toEqual(kept);
  read?.bytes.fill(7);
  read?.list.pop();
  expect(items(TableName)).toEqual([kept]);
});

test.each<readonly [string, Record<string, unknown>, Record<string, unknown>]>([
  ['SET parts[1] = :v, sum = sum + :n', { ':v': 'x', ':n': 0.2 }, { parts: [0, 'x', 2], sum: 0.3 }],
  ['SET parts[9] = :v, parts[8] = :n', { ':v': 'x', ':n': 1 }, { parts: [0, 1, 2, 1, 'x'], sum: 0.1 }],
  ['SET parts[7] = parts[0] REMOVE parts[0], #sum', {}, { parts: [1, 2, 0] }],
  [
    'SET parts = list_append(:v, parts), sum = if_not_exists(box, :n) - sum',
    { ':v': ['x'], ':n': 1 },
    { parts: ['x', 0, 1, 2], sum: 0.9 },
  ],
])('an update: %s', (UpdateExpression, ExpressionAttributeValues, after) => {
  const { execute } = make();
  execute(new PutCommand({ TableName, Item: { ...Key, parts: [0, 1, 2], sum: 0.1 } }));
  const options = { ExpressionAttributeNames: { '#sum': 'sum' }, ReturnValues: 'ALL_NEW' as const };
  const { Attributes } = execute(
    new UpdateCommand({ TableName, Key, UpdateExpression, ExpressionAttributeValues, ...options }),
  );
  expect(Attributes).toEqual({ ...Key, ...after });
});

test.each([
  ['attribute_exists(id) AND attribute_not_exists(box)', true],
  ['amount < :v OR box = :v', false],
  ['NOT amount <> :five', true],
  ['(amount > :v or box = :v) and title < :t', false],
  ['amount BETWEEN :v AND :five AND begins_with(title, :t)', true],
  ['parts[0].inner = :v', true],
  ['title > :v', false],
])('a condition: %s is %s', (ConditionExpression, isTrue) => {
  const { execute } = make();
  execute(new PutCommand({ TableName, Item: { ...Key, amount: 5, title: 'thing', parts: [{ inner: 1 }] } }));
  const ExpressionAttributeValues = { ':v': 1, ':five': 5, ':t': 'th' };
  const remove = new DeleteCommand({ TableName, Key, ConditionExpression, ExpressionAttributeValues });
  if (isTrue) execute(remove);
  else expect(() => execute(remove)).toThrow(expect.objectContaining({ name: 'ConditionalCheckFailedException' }));
});

test.each<readonly [string, TablesCommand<object>, RegExp]>([
  ['an empty key', new PutCommand({ TableName, Item: { id: '', place: 1 } }), /key id has 0 bytes/],
  ['an item without its key', new PutCommand({ TableName, Item: { id: 'a' } }), /Missing the key place/],
  ['a key of another type', new GetCommand({ TableName, Key: { id: 'a', place: '1' } }), /place is of the type S/],
  ['a key of an index of another type', new PutCommand({ TableName, Item: { ...Key, rank: 'x' } }), /key rank is/],
  ['an item over 400 KB', new PutCommand({ TableName, Item: { ...Key, body: 'x'.repeat(409_600) } }), /exceeded/],
  ['an update of the key', update('SET place = :v'), /part of the key/],
  ['paths that overlap', update('SET box = :v, box.a = :v'), /overlap/],
  ['a sum with nothing', update('SET amount = amount + :v'), /does not exist/],
  ['a place that is not there', update('SET box.a = :v'), /document path/],
  ['an order of what has none', query({ ExpressionAttributeValues: { ':o': 'x', ':r': null } }), /operand type: NULL/],
  ['a consistent read of an index', query({ ConsistentRead: true }), /Consistent reads are not supported/],
  ['an index that is not there', query({ IndexName: 'other' }), /does not have the specified index/],
  ['a start without all keys', query({ ExclusiveStartKey: Key }), /starting key is invalid/],
  [
    'a batch that names a key twice',
    new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [Key, Key] } } }),
    /once/,
  ],
])('%s is refused', (_, command, message) => {
  const refusal = { name: 'ValidationException', $fault: 'client', message: expect.stringMatching(message) };
  expect(() => make().execute(command)).toThrow(expect.objectContaining(refusal));
});

test.each<readonly [string, TablesCommand<object>]>([
  ['the command TransactWriteCommand', new TransactWriteCommand({ TransactItems: [] })],
  ['the option ReturnConsumedCapacity', new GetCommand({ TableName, Key, ReturnConsumedCapacity: 'TOTAL' })],
  ['the operator size', new DeleteCommand({ TableName, Key, ConditionExpression: 'size(a)' })],
  ['":w" after', update('SET amount = :w')],
  ['"ADD" after "" in an expression', update('ADD amount :v')],
  ['sets', new PutCommand({ TableName, Item: { ...Key, all: new Set([1]) } })],
  ['the statement', new BatchExecuteStatementCommand({ Statements: [{ Statement: 'SELECT * FROM "Things"' }] })],
])('what is not known is no answer of DynamoDB: %s', (what, command) => {
  expect(() => make().execute(command)).toThrow(`The virtual DynamoDB does not know ${what}`);
});

test('statements have their own outcomes', () => {
  const { execute, items } = make();
  execute(new PutCommand({ TableName, Item: { ...Key, old: true } }));
  const Statement = `INSERT INTO "${TableName}" VALUE {'id':?,'place':?}`;
  const Statements = [1, 2, 'x'].map(place => ({ Statement, Parameters: ['a', place] }));
  const { Responses } = execute(new BatchExecuteStatementCommand({ Statements }));
  expect(Responses?.map(({ Error: error }) => error?.Code)).toEqual(['DuplicateItem', undefined, 'ValidationError']);
  expect(items(TableName)).toEqual([
    { ...Key, old: true },
    { ...Key, place: 2 },
  ]);
});

test('a batch writes all or, where DynamoDB would refuse one, nothing', () => {
  const { execute, items } = make();
  const put = (place: unknown) => ({ PutRequest: { Item: { id: 'a', place } } });
  const write = (...writes: object[]) => execute(new BatchWriteCommand({ RequestItems: { [TableName]: writes } }));
  expect(() => write(put(3), put('x'))).toThrow(expect.objectContaining({ name: 'ValidationException' }));
  expect(write(put(1), put(2))).toEqual({ UnprocessedItems: {} });
  write({ DeleteRequest: { Key } });
  expect(items(TableName)).toEqual([{ id: 'a', place: 2 }]);
});

test.each([true, false])('pages of an index whose keys are equal leave nothing out (forward: %s)', ScanIndexForward => {
  const { execute } = make();
  for (const id of ['b', 'a', 'c']) {
    for (const place of [2, 10, 1])
      execute(new PutCommand({ TableName, Item: { id, place, owner: 'x', rank: place && 5 } }));
  }
  const found: string[] = [];
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = execute(query({ Limit: 2, ScanIndexForward, ExclusiveStartKey }));
    found.push(...(page.Items ?? []).map(({ id, place }) => `${id}${place}`));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  const all = ['a1', 'a2', 'a10', 'b1', 'b2', 'b10', 'c1', 'c2', 'c10'];
  expect(found).toEqual(ScanIndexForward ? all : all.toReversed());
});

test('a scan in pages finds all, also where what it has found is deleted', () => {
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

test('an index sees writes late, and those of one item in their order', () => {
  const lags = [100, 10, 10, 0];
  let now = 0;
  const { execute } = make(
    () => now,
    () => lags.shift() ?? 0,
  );
  const put = (id: string, rank: number) =>
    execute(new PutCommand({ TableName, Item: { ...Key, id, owner: 'x', rank } }));
  const seen = () => execute(query({})).Items?.map(({ rank }) => rank);
  put('a', 1);
  put('a', 2);
  put('b', 3);
  const looks = [0, 10, 99, 100].map(moment => {
    now = moment;
    return seen();
  });
  expect(looks).toEqual([[], [3], [3], [2, 3]]);
  execute(new DeleteCommand({ TableName, Key }));
  expect(seen()).toEqual([3]);
});

function make(now = () => 0, indexLag = () => 0) {
  const keyOf = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' as const },
    { AttributeName: range, KeyType: 'RANGE' as const },
  ];
  const definition = {
    TableName,
    AttributeDefinitions: Object.entries({ id: 'S', place: 'N', owner: 'S', rank: 'N' } as const).map(
      ([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }),
    ),
    KeySchema: keyOf('id', 'place'),
    GlobalSecondaryIndexes: [
      { IndexName: 'byRank', KeySchema: keyOf('owner', 'rank'), Projection: { ProjectionType: 'KEYS_ONLY' as const } },
    ],
  };
  const translate = { marshallOptions: { removeUndefinedValues: true }, unmarshallOptions: { wrapNumbers: Number } };
  return makeTables({ definitions: [definition], now, indexLag, translate });
}

function update(UpdateExpression: string): UpdateCommand {
  return new UpdateCommand({ TableName, Key, UpdateExpression, ExpressionAttributeValues: { ':v': 1 } });
}

function query(options: object): QueryCommand {
  return new QueryCommand({
    TableName,
    IndexName: 'byRank',
    KeyConditionExpression: '#o = :o AND rank > :r',
    ExpressionAttributeNames: { '#o': 'owner' },
    ExpressionAttributeValues: { ':o': 'x', ':r': 0 },
    ...options,
  });
}
