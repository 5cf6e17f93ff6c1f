import { ConditionalCheckFailedException, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
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
import { describe, expect, test } from 'vitest';
import { makeTables, type TablesCommand } from '../../src/dynamodb/tables.ts';
import { definitions } from './definitions.ts';

const TableName = 'Things';
const key = { id: 'a', place: 1 };

test('items are kept as the document client would give them back', () => {
  const { execute, items, raw } = make();
  const item = { ...key, none: undefined, list: [1.5, undefined, 'x'], bytes: Uint8Array.of(1, 2), big: 2n ** 60n };
  const answer = execute(new PutCommand({ TableName, Item: item }));
  expect(answer).toEqual({ $metadata: expect.objectContaining({ httpStatusCode: 200, attempts: 1 }) });
  const read = { ...key, list: [1.5, 'x'], bytes: Uint8Array.of(1, 2), big: 2 ** 60 };
  expect(execute(new GetCommand({ TableName, Key: key })).Item).toEqual(read);
  expect(items(TableName)).toEqual([read]);
  expect(raw(TableName)[0]).toMatchObject({
    big: { N: '1152921504606846976' },
    list: { L: [{ N: '1.5' }, { S: 'x' }] },
  });
});

test('what callers hold and what is stored are never the same object', () => {
  const { execute } = make();
  const item = { ...key, list: [{ inner: 1 }], bytes: Uint8Array.of(1) };
  execute(new PutCommand({ TableName, Item: item }));
  item.list.push({ inner: 2 });
  item.bytes[0] = 9;
  const read = execute(new GetCommand({ TableName, Key: key })).Item;
  read?.bytes.fill(7);
  read?.list.pop();
  expect(execute(new GetCommand({ TableName, Key: key })).Item).toEqual({
    ...key,
    list: [{ inner: 1 }],
    bytes: Uint8Array.of(1),
  });
});

test('numbers are decimal', () => {
  const { execute, raw } = make();
  execute(new PutCommand({ TableName, Item: { ...key, sum: 0.1 } }));
  const add = { UpdateExpression: 'SET #s = #s + :n', ExpressionAttributeNames: { '#s': 'sum' } };
  execute(new UpdateCommand({ TableName, Key: key, ...add, ExpressionAttributeValues: { ':n': 0.2 } }));
  expect(raw(TableName)[0]?.sum).toEqual({ N: '0.3' });
});

const refused: readonly (readonly [string, TablesCommand<object>, RegExp])[] = [
  ['an empty key', new PutCommand({ TableName, Item: { id: '', place: 1 } }), /empty string/],
  ['an item without its key', new PutCommand({ TableName, Item: { id: 'a' } }), /Missing the key place/],
  [
    'a key of another type',
    new PutCommand({ TableName, Item: { id: 'a', place: '1' } }),
    /Type mismatch for key place/,
  ],
  [
    'an index key of another type',
    new PutCommand({ TableName, Item: { ...key, rank: 'x' } }),
    /Index Key rank Expected: N/,
  ],
  ['an empty index key', new PutCommand({ TableName, Item: { ...key, title: '' } }), /empty string/],
  ['a key with too little', new GetCommand({ TableName, Key: { id: 'a' } }), /does not match the schema/],
  ['a key that is too long', new GetCommand({ TableName: 'Simple', Key: { id: 'é'.repeat(1_025) } }), /2048 bytes/],
  ['an item over 400 KB', new PutCommand({ TableName, Item: { ...key, body: 'x'.repeat(409_600) } }), /exceeded/],
  ['an update of the key', update('SET place = :v', { ':v': 2 }), /part of the key/],
  ['paths that overlap', update('SET box = :v, box.a = :v', { ':v': 2 }), /overlap/],
  ['an empty index key by update', update('SET title = :v', { ':v': '' }), /empty string/],
  ['a sum with text', update('SET amount = amount + :v', { ':v': 'x' }), /Incorrect operand type/],
  ['a sum with nothing', update('SET amount = amount + :v', { ':v': 1 }), /does not exist/],
  ['a value that is not used', update('SET amount = :v', { ':v': 1, ':w': 1 }), /unused in expressions: keys: \{:w\}/],
  ['a value that is not given', update('SET amount = :v'), /:v/],
  ['a reserved word', update('SET status = :v', { ':v': 1 }), /reserved keyword: status/],
  ['a syntax error', update('SET amount :v', { ':v': 1 }), /Syntax error/],
  ['an order of what has none', new DeleteCommand({ TableName, Key: key, ...isLess(null) }), /operand type: NULL/],
  ['a consistent read of an index', ofIndex({ ConsistentRead: true }), /Consistent reads are not supported/],
  ['a projection that the index lacks', ofIndex({ ProjectionExpression: 'parts' }), /does not project \[parts\]/],
  ['an index that is not there', ofIndex({ IndexName: 'other' }), /does not have the specified index/],
  ['a start without all keys', ofIndex({ ExclusiveStartKey: key }), /starting key is invalid/],
  [
    'a batch that names a key twice',
    new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [key, key] } } }),
    /duplicates/,
  ],
];

test.each(refused)('%s is refused', (_, command, message) => {
  const { execute } = make();
  expect(() => execute(command)).toThrow(
    expect.objectContaining({ name: 'ValidationException', $fault: 'client', message: expect.stringMatching(message) }),
  );
});

test('errors are of the classes of the SDK', () => {
  const { execute } = make();
  const condition = { ConditionExpression: 'attribute_exists(id)' };
  expect(() => execute(new DeleteCommand({ TableName, Key: key, ...condition }))).toThrow(
    ConditionalCheckFailedException,
  );
  expect(() => execute(new ScanCommand({ TableName: 'Others' }))).toThrow(ResourceNotFoundException);
});

test.each<readonly [string, TablesCommand<object>]>([
  ['command', new TransactWriteCommand({ TransactItems: [] })],
  ['option', new GetCommand({ TableName, Key: key, ReturnConsumedCapacity: 'TOTAL' })],
  ['function', new DeleteCommand({ TableName, Key: key, ConditionExpression: 'size(a) > b' })],
  ['updates by ADD', update('ADD amount :v', { ':v': 1 })],
  ['statement', new BatchExecuteStatementCommand({ Statements: [{ Statement: 'SELECT * FROM "Things"' }] })],
])('what is not implemented is no answer of DynamoDB: %s', (what, command) => {
  expect(() => make().execute(command)).toThrow(new RegExp(`^The virtual DynamoDB does not know .*${what}`));
});

describe('lists', () => {
  test.each<readonly [string, Record<string, unknown> | undefined, unknown[]]>([
    ['SET parts[1] = :v', { ':v': 'x' }, [0, 'x', 2]],
    ['SET parts[9] = :v, parts[8] = :w', { ':v': 'x', ':w': 'w' }, [0, 1, 2, 'w', 'x']],
    ['REMOVE parts[0], parts[2]', undefined, [1]],
    ['SET parts[7] = parts[0] REMOVE parts[0]', undefined, [1, 2, 0]],
    ['SET parts = list_append(:v, parts)', { ':v': ['x'] }, ['x', 0, 1, 2]],
    ['REMOVE parts[7]', undefined, [0, 1, 2]],
  ])('%s', (expression, values, expected) => {
    const { execute, items } = make();
    execute(new PutCommand({ TableName, Item: { ...key, parts: [0, 1, 2] } }));
    execute(update(expression, values));
    expect(items(TableName)).toEqual([{ ...key, parts: expected }]);
  });
});

test('statements have their own outcomes', () => {
  const { execute, items } = make();
  execute(new PutCommand({ TableName, Item: { ...key, old: true } }));
  const insert = (table: string, place: unknown) => ({
    Statement: `INSERT INTO "${table}" VALUE {'id':?,'place':?}`,
    Parameters: ['a', place],
  });
  const Statements = [insert(TableName, 1), insert(TableName, 2), insert(TableName, 'x'), insert('Others', 1)];
  const { Responses } = execute(new BatchExecuteStatementCommand({ Statements }));
  expect(Responses?.map(({ Error: error }) => error?.Code)).toEqual([
    'DuplicateItem',
    undefined,
    'ValidationError',
    'ResourceNotFound',
  ]);
  expect(items(TableName)).toEqual([
    { ...key, old: true },
    { id: 'a', place: 2 },
  ]);
});

test('as much of a batch stays unprocessed as is asked for, but never all', () => {
  const { execute, items } = make({ mostUnprocessed: () => 2 });
  const puts = ['a', 'b', 'c'].map(id => ({ PutRequest: { Item: { id } } }));
  const written = execute(new BatchWriteCommand({ RequestItems: { Simple: puts } }));
  expect(written.UnprocessedItems).toEqual({ Simple: puts.slice(1) });
  expect(items('Simple')).toEqual([{ id: 'a' }]);
  const read = execute(
    new BatchGetCommand({ RequestItems: { Simple: { Keys: [{ id: 'a' }, { id: 'b' }], ConsistentRead: true } } }),
  );
  expect(read.Responses).toEqual({ Simple: [{ id: 'a' }] });
  expect(read.UnprocessedKeys).toEqual({ Simple: { Keys: [{ id: 'b' }], ConsistentRead: true } });
});

function make(options: Partial<Parameters<typeof makeTables>[0]> = {}) {
  const translate = { marshallOptions: { removeUndefinedValues: true }, unmarshallOptions: { wrapNumbers: Number } };
  return makeTables({ definitions, now: () => 0, translate, ...options });
}

function update(UpdateExpression: string, ExpressionAttributeValues?: Record<string, unknown>): UpdateCommand {
  return new UpdateCommand({ TableName, Key: key, UpdateExpression, ExpressionAttributeValues });
}

function isLess(than: unknown) {
  return { ConditionExpression: 'amount < :v', ExpressionAttributeValues: { ':v': than } };
}

function ofIndex(options: object): QueryCommand {
  return new QueryCommand({
    TableName,
    IndexName: 'byRank',
    KeyConditionExpression: '#o = :o',
    ExpressionAttributeNames: { '#o': 'owner' },
    ExpressionAttributeValues: { ':o': 'x' },
    ...options,
  });
}
