import { once } from 'node:events';
import { connect } from 'node:net';
import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TableSnapshot } from '../../src/dynamodb/tables.ts';
import { startDynamoDb, tableOf } from '../../src/local/dynamodb.ts';
import { liveResource } from './live-resource.ts';
import { destroyAfterTest, settingsOf } from './sdk-client.ts';

const start = async (stored: readonly TableSnapshot[] = []) => {
  const service = await startDynamoDb({ stored });
  onTestFinished(service.stop);
  service.ensureTable(table);
  return { ...service, client: destroyAfterTest(new DynamoDBClient(settingsOf(service.endpoint))) };
};

const indexOf = (ProjectionType: string) => ({
  IndexName: 'due',
  KeySchema: [
    { AttributeName: 'dueShard', KeyType: 'HASH' },
    { AttributeName: 'dueAt', KeyType: 'RANGE' },
  ],
  Projection: { ProjectionType },
});

/** Properties of a table as the CDK generates them. They include settings that have no effect locally. */
const properties = {
  AttributeDefinitions: ['id', 'dueShard', 'dueAt'].map(AttributeName => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  GlobalSecondaryIndexes: [indexOf('KEYS_ONLY')],
  BillingMode: 'PAY_PER_REQUEST',
  TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
  Replicas: [{ Region: 'us-east-1', DeletionProtectionEnabled: true }],
};
const definitionOf = (changes: object = {}) =>
  tableOf(liveResource('AWS::DynamoDB::GlobalTable', { ...properties, ...changes }, 'Deliveries'));
const table = definitionOf();
const TableName = 'App-Deliveries';
const Key = { id: { S: 'a' } };

describe('the DynamoDB emulator', () => {
  it('returns items of all types unchanged', async () => {
    const { client } = await start();
    const scalars = { s: { S: 'é\u{1f600}' }, n: { N: '-15' }, b: { B: Uint8Array.of(0, 255) }, no: { BOOL: false } };
    const Item = { ...Key, ...scalars, l: { L: [{ NULL: true }, { M: scalars }] } };
    await client.send(new PutItemCommand({ TableName, Item }));
    expect((await client.send(new GetItemCommand({ TableName, Key }))).Item).toEqual(Item);
    expect((await client.send(new ScanCommand({ TableName }))).Items).toEqual([Item]);
  });

  it('creates, lists and describes tables', async () => {
    const { client } = await start();
    await client.send(new CreateTableCommand({ ...table, TableName: 'Another', BillingMode: 'PAY_PER_REQUEST' }));
    expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual(['Another', TableName]);
    const { Table } = await client.send(new DescribeTableCommand({ TableName: 'Another' }));
    expect(Table).toMatchObject({ ...table, TableName: 'Another', TableStatus: 'ACTIVE' });
    const again = client.send(new CreateTableCommand({ ...table, BillingMode: 'PAY_PER_REQUEST' }));
    await expect(again).rejects.toThrow(expect.objectContaining({ name: 'ResourceInUseException' }));
  });

  it('returns the same errors as AWS', async () => {
    const { client } = await start();
    const condition = { ConditionExpression: 'attribute_exists(id)' };
    const rejected = client.send(new PutItemCommand({ TableName, Item: Key, ...condition }));
    await expect(rejected).rejects.toThrow(ConditionalCheckFailedException);
    const request = client.send(new GetItemCommand({ TableName: 'Elsewhere', Key }));
    await expect(request).rejects.toThrow(
      expect.objectContaining({ name: 'ResourceNotFoundException', $metadata: expect.any(Object) }),
    );
  });

  it('still responds after a client has disconnected during a request', async () => {
    const { endpoint, client } = await start();
    const socket = connect(Number(new URL(endpoint).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: x\r\nContent-Length: 100\r\n\r\n{"a"');
    await new Promise<void>(resolve => socket.end(() => resolve()));
    socket.resetAndDestroy();
    expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual([TableName]);
  });
});

describe('a snapshot of DynamoDB', () => {
  const put = new PutItemCommand({ TableName, Item: { ...Key, b: { B: Uint8Array.of(1) } } });

  it('is JSON, and restores tables and items in the next run', async () => {
    const first = await start();
    expect(first.changes()).toBe(0);
    await first.client.send(put);
    await first.client.send(new GetItemCommand({ TableName, Key }));
    expect(first.changes()).toBe(1);
    expect(JSON.parse(JSON.stringify(first.snapshot()))).toMatchObject([{ items: [{ ...Key, b: { B: 'AQ==' } }] }]);
    const { client } = await start(first.snapshot());
    expect((await client.send(new GetItemCommand({ TableName, Key }))).Item).toEqual(put.input.Item);
  });

  it.each([
    ['no index', { GlobalSecondaryIndexes: undefined }],
    ['another key', { KeySchema: [{ AttributeName: 'dueAt', KeyType: 'HASH' }] }],
    [
      'a number',
      { AttributeDefinitions: properties.AttributeDefinitions.map(one => ({ ...one, AttributeType: 'N' })) },
    ],
  ])('is rejected if a table has different keys or indexes: %s', async (_what, changes) => {
    const { ensureTable } = await start();
    ensureTable(definitionOf({ AttributeDefinitions: properties.AttributeDefinitions.toReversed() }));
    expect(() => ensureTable(definitionOf(changes))).toThrow(
      expect.objectContaining({
        message: 'The stored table App-Deliveries has different keys or indexes',
        problem: 'data-unfit',
      }),
    );
  });
});

describe('the DynamoDB emulator rejects', () => {
  const wrongType = 'SerializationException';
  it.each<[string, operation: string, body: unknown, code: string, message: RegExp]>([
    ['an unknown operation', 'ExportTable', {}, 'UnknownOperationException', /does not support ExportTable/],
    ['an inherited property name', 'constructor', {}, 'UnknownOperationException', /does not support constructor/],
    ['text that is not JSON', 'GetItem', '{"TableName"', wrongType, /not JSON/],
    ['a body that is not an object', 'GetItem', null, wrongType, /expected object/],
    ['an invalid table name', 'GetItem', { TableName: 5 }, wrongType, /expected string.*TableName/s],
    ['an invalid key', 'GetItem', { TableName, Key: ['a'] }, wrongType, /at Key/],
    ['a value without a type', 'GetItem', { TableName, Key: { id: 'a' } }, wrongType, /at Key\.id/],
    ['a value of two types', 'GetItem', { TableName, Key: { id: { S: 'a', N: '1' } } }, wrongType, /exactly one type/],
    ['bytes that are not base64', 'PutItem', { TableName, Item: { id: { B: '*' } } }, wrongType, /base64/],
    ['a null in a batch', 'BatchWriteItem', { RequestItems: { [TableName]: [null] } }, wrongType, /RequestItems/],
    ['a null statement', 'BatchExecuteStatement', { Statements: [null] }, wrongType, /Statements\[0\]/],
    ['a statement that reads', ...statement('SELECT * FROM "T"', []), 'ValidationException', /the statement SELECT/],
    ['a missing parameter', ...statement(`INSERT INTO "T" VALUE {'id':?,'x':?}`), 'ValidationException', /INSERT/],
    ['a repeated name', ...statement(`INSERT INTO "T" VALUE {'a':?,'a':?}`, [1, 2]), 'ValidationException', /repeat/],
    ['a literal value', ...statement(`INSERT INTO "T" VALUE {'id':'a'}`), 'ValidationException', /INSERT/],
    ['text after a statement', ...statement(`INSERT INTO "T" VALUE {'id':?}\n`), 'ValidationException', /INSERT/],
    ['a request without a table', 'Scan', {}, 'ValidationException', /TableName is required/],
    ['a put without an item', 'PutItem', { TableName }, 'ValidationException', /Missing the key id/],
    ['a query without a key condition', 'Query', { TableName }, 'ValidationException', /in an expression/],
    ['an unknown option', 'Scan', { TableName, Segment: 1 }, 'ValidationException', /the option Segment/],
    ['a set', 'PutItem', { TableName, Item: { ...Key, tags: { SS: ['x'] } } }, wrongType, /"SS"/],
  ])('%s', async (_what, operation, body, code, message) => {
    expect(await call(operation, body)).toEqual([400, { __type: code, message: expect.stringMatching(message) }]);
  });
});

it('rejects a template with an index that projects other attributes', () => {
  expect(() => definitionOf({ GlobalSecondaryIndexes: [indexOf('ALL')] })).toThrow(/only indexes that project keys/);
});

it('updates an index immediately', async () => {
  const { client } = await start();
  await client.send(new PutItemCommand({ TableName, Item: { ...Key, dueShard: { S: '1' }, dueAt: { S: '2026' } } }));
  expect((await client.send(new ScanCommand({ TableName, IndexName: 'due' }))).Count).toBe(1);
});

it('accepts a request without a signature', async () => {
  expect(await call('ListTables', {})).toEqual([200, { TableNames: [TableName] }]);
});

it('does not remove expired items', async () => {
  const { client } = await start();
  await client.send(new PutItemCommand({ TableName, Item: { ...Key, ttl: { N: '1' } } }));
  expect((await client.send(new GetItemCommand({ TableName, Key }))).Item).toHaveProperty('ttl');
});

/** Sends a raw request. Returns the status and the body of the response. */
async function call(operation: string, body: unknown): Promise<[number, unknown]> {
  const { endpoint } = await start();
  const headers = { 'x-amz-target': `DynamoDB_20120810.${operation}`, 'content-type': 'application/x-amz-json-1.0' };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(endpoint, { method: 'POST', headers, body: text });
  expect(response.headers.get('content-type')).toBe('application/x-amz-json-1.0');
  return [response.status, await response.json()];
}

function statement(Statement: string, values: readonly number[] = [1]): [operation: string, body: object] {
  return ['BatchExecuteStatement', { Statements: [{ Statement, Parameters: values.map(N => ({ N: `${N}` })) }] }];
}
