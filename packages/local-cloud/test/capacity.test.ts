import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallOperation } from '../src/batch-statements.ts';
import { type Attributes, itemSize, type TableDesign, withUnits, writeUnits } from '../src/capacity.ts';
import { startDynamoDb } from '../src/dynamodb.ts';

const plain: TableDesign = { key: ['id'], indexes: [] };
const withIndex: TableDesign = { key: ['id'], indexes: [['shard', 'at']] };
const item = (bytes: number, more: Attributes = {}): Attributes => ({
  id: { S: '1' }, // 3 bytes
  b: { S: 'x'.repeat(bytes - 4) },
  ...more,
});

describe('the size of an item', () => {
  it.each<[string, Attributes, number]>([
    ['a text is its UTF-8 bytes and its name', { aé: { S: 'é' } }, 3 + 2],
    ['two digits of a number are a byte, and there is one more', { n: { N: '12345' } }, 1 + 3 + 1],
    ['zeros at the ends of a number are no digits', { n: { N: '1000' } }, 1 + 1 + 1],
    ['a sign is a byte', { n: { N: '-12' } }, 1 + 1 + 1 + 1],
    ['bytes are those that are encoded', { b: { B: 'AAAA' } }, 1 + 3],
    ['a list has 3 bytes, and one for each element', { l: { L: [{ S: 'ab' }, { BOOL: true }] } }, 1 + 3 + 3 + 2],
    ['so has a map, and the names of its members', { m: { M: { ab: { S: 'c' } } } }, 1 + 3 + 4],
    ['true, false and null are a byte', { t: { BOOL: true }, u: { NULL: true } }, 2 + 2],
  ])('%s', (_rule, attributes, bytes) => {
    expect(itemSize(attributes)).toBe(bytes);
  });
});

describe('the units of a write', () => {
  it.each<[string, Attributes | undefined, Attributes | undefined, number]>([
    ['one for up to a KiB', undefined, item(1024), 1],
    ['another one from the next byte on', undefined, item(1025), 2],
    ['by the larger of old and new', item(3000), item(10), 3],
    ['of a deletion by what was there', item(2049), undefined, 3],
    ['one where nothing is there', undefined, undefined, 1],
  ])('are %s', (_rule, before, after, units) => {
    expect(writeUnits(before, after, plain)).toBe(units);
  });

  const entry = (at: string): Attributes => ({ shard: { S: 's' }, at: { S: at } });
  it.each<[string, Attributes, Attributes, number]>([
    ['one more for a new entry of an index', item(10), item(10, entry('1')), 2],
    ['none for an entry that stays', item(10, entry('1')), item(20, entry('1')), 1],
    ['two for an entry that moves', item(10, entry('1')), item(10, entry('2')), 3],
    ['one for an entry that goes', item(10, entry('1')), item(10), 2],
  ])('are %s', (_rule, before, after, units) => {
    expect(writeUnits(before, after, withIndex)).toBe(units);
  });
});

const TableName = 'Things';
let engine: Awaited<ReturnType<typeof startDynamoDb>>;
beforeAll(async () => {
  engine = await startDynamoDb();
  await call('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  });
});
afterAll(() => engine.stop());

const call: CallOperation = async (operation, input) => {
  const scope = 'Credential=local/20261121/us-east-1/dynamodb/aws4_request';
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': `DynamoDB_20120810.${operation}`,
    'x-amz-date': '20261121T000000Z',
    authorization: `AWS4-HMAC-SHA256 ${scope}, SignedHeaders=host, Signature=test`,
  };
  const request = { method: 'POST', url: '/', headers };
  const { status, text } = await engine.answer(request, Buffer.from(JSON.stringify(input)));
  return { status, body: JSON.parse(text) };
};
const unitsOf = async (operation: string, input: object) => {
  const asked = { ...input };
  return (await withUnits(operation, asked, call, () => call(operation, asked))).units;
};

const large = (id: string) => ({ id: { S: id }, text: { S: 'x'.repeat(5_000) } });
const insert = (id: string) => ({
  Statement: `INSERT INTO "${TableName}" VALUE {'id':?,'text':?}`,
  Parameters: [{ S: id }, { S: 'x'.repeat(1_500) }],
});

it('operations have their units', async () => {
  expect(await unitsOf('PutItem', { TableName, Item: large('a') })).toEqual({ write: 5, read: 0 });
  const get = { TableName, Key: { id: { S: 'a' } }, ConsistentRead: true };
  expect(await unitsOf('GetItem', get)).toEqual({ write: 0, read: 2 });
  const RequestItems = { [TableName]: { Keys: [{ id: { S: 'a' } }, { id: { S: 'missing' } }] } };
  expect(await unitsOf('BatchGetItem', { RequestItems })).toEqual({ write: 0, read: 1.5 });
  const condition = { KeyConditionExpression: 'id = :id', ExpressionAttributeValues: { ':id': { S: 'a' } } };
  expect(await unitsOf('Query', { TableName, ...condition })).toEqual({ write: 0, read: 1 });
});

it('a write whose condition fails counts what is there', async () => {
  const put = { TableName, Item: { id: { S: 'a' } }, ConditionExpression: 'attribute_not_exists(id)' };
  expect(await unitsOf('PutItem', put)).toEqual({ write: 5, read: 0 });
});

it('statements that insert count as the puts that they are, refused ones too', async () => {
  const Statements = [insert('b'), insert('c'), insert('a')];
  expect(await unitsOf('BatchExecuteStatement', { Statements })).toEqual({ write: 2 + 2 + 5, read: 0 });
});

it('an operation that cannot be counted is refused, rather than counted as nothing', async () => {
  const TransactItems = [{ Put: { TableName, Item: { id: { S: 'z' } } } }];
  await expect(unitsOf('TransactWriteItems', { TransactItems })).rejects.toThrow();
});
