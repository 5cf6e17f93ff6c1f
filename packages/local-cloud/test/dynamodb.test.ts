import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BatchExecuteStatementCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, expect, it } from 'vitest';
import type { LiveResource } from '../src/assembly/resources.ts';
import { createTables, startDynamoDb, tableOf } from '../src/dynamodb.ts';
import { makeFaultInterceptor } from '../src/fault-injection.ts';

const directory = mkdtempSync(join(tmpdir(), 'local-cloud-tables-'));
const ends: (() => unknown)[] = [];

const start = async (kept?: string) => {
  const { endpoint, stop } = await startDynamoDb(kept === undefined ? {} : { directory: kept });
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const client = new DynamoDBClient({ region: 'us-east-1', endpoint, credentials, maxAttempts: 1 });
  const end = async () => {
    client.destroy();
    await stop();
  };
  ends.push(end);
  return { endpoint, client, end };
};

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  rmSync(directory, { recursive: true, force: true });
});

/** As the CDK writes a table: with what has no effect locally. */
const table = tableOf({
  stack: 'App',
  logicalId: 'Deliveries',
  type: 'AWS::DynamoDB::GlobalTable',
  properties: {
    AttributeDefinitions: ['id', 'dueShard', 'dueAt'].map(AttributeName => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'due',
        KeySchema: [
          { AttributeName: 'dueShard', KeyType: 'HASH' },
          { AttributeName: 'dueAt', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
    BillingMode: 'PAY_PER_REQUEST',
    TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    Replicas: [{ Region: 'us-east-1', DeletionProtectionEnabled: true }],
  },
} satisfies LiveResource);

it('creates tables once and keeps them, with what is in them', async () => {
  const first = await start(directory);
  await createTables(first.client, [table]);
  await first.client.send(new PutItemCommand({ TableName: 'App-Deliveries', Item: { id: { S: 'a' } } }));
  await first.end();

  const { client } = await start(directory);
  await createTables(client, [table]);
  expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual(['App-Deliveries']);
  const kept = await client.send(new GetItemCommand({ TableName: 'App-Deliveries', Key: { id: { S: 'a' } } }));
  expect(kept.Item).toEqual({ id: { S: 'a' } });
  const redesigned = {
    ...table,
    GlobalSecondaryIndexes: undefined,
    AttributeDefinitions: table.AttributeDefinitions?.slice(0, 1),
  };
  await expect(createTables(client, [redesigned])).rejects.toThrow(/App-Deliveries has other keys or indexes now/);
});

it('survives callers that disconnect in the middle of a request', async () => {
  const { endpoint, client } = await start();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const socket = connect(Number(new URL(endpoint).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 100\r\n\r\n{"a"',
    );
    await new Promise(resolve => setTimeout(resolve, 5));
    socket.resetAndDestroy();
  }
  expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual([]);
});

it('throttles functions when that fault is injected', async () => {
  const happened: string[] = [];
  const inject = makeFaultInterceptor({ happens: kind => happened.push(kind) > 0 });
  const { endpoint, stop } = await startDynamoDb({ interceptors: [inject] });
  ends.push(stop);
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const client = new DynamoDBClient({ region: 'us-east-1', endpoint, credentials, maxAttempts: 1 });
  await expect(client.send(new ListTablesCommand({}))).rejects.toMatchObject({
    name: 'ProvisionedThroughputExceededException',
  });
  client.destroy();
  expect(happened).toEqual(['throttledReadsAndWrites']);
});

const insert = (id: string, Statement = `INSERT INTO "App-Deliveries" VALUE {'id':?}`) => ({
  Statement,
  Parameters: [{ S: id }],
});

it('inserts what does not exist yet, each statement on its own', async () => {
  const { client } = await start();
  await createTables(client, [table]);
  await client.send(new PutItemCommand({ TableName: 'App-Deliveries', Item: { id: { S: 'b' }, old: { BOOL: true } } }));
  const Statements = [insert('a'), insert('b'), insert('')];
  const input = { Statements, ReturnConsumedCapacity: 'TOTAL' } as const;
  const { Responses, ConsumedCapacity } = await client.send(new BatchExecuteStatementCommand(input));
  expect(Responses?.map(answer => answer.Error?.Code)).toEqual([undefined, 'DuplicateItem', 'ValidationError']);
  expect(ConsumedCapacity).toMatchObject([{ TableName: 'App-Deliveries', CapacityUnits: 1 }]);
  const read = (id: string) => client.send(new GetItemCommand({ TableName: 'App-Deliveries', Key: { id: { S: id } } }));
  expect((await read('a')).Item).toEqual({ id: { S: 'a' } });
  expect((await read('b')).Item).toHaveProperty('old');
});

it('refuses what is inserted into a table that does not exist, each statement on its own', async () => {
  const { client } = await start();
  await createTables(client, [table]);
  const elsewhere = `INSERT INTO "Elsewhere" VALUE {'id':?}`;
  const Statements = [insert('a', elsewhere), insert('b', elsewhere), insert('a')];
  const { Responses } = await client.send(new BatchExecuteStatementCommand({ Statements }));
  const codes = Responses?.map(answer => answer.Error?.Code);
  expect(codes).toEqual(['ResourceNotFound', 'ResourceNotFound', undefined]);
});

it.each([
  `SELECT * FROM "App-Deliveries"`,
  `DELETE FROM "App-Deliveries" WHERE id = ?`,
  `INSERT INTO "App-Deliveries" VALUE {'id':?,'other':?}`,
  `INSERT INTO "App-Deliveries" VALUE {'id':'a'}`,
  `INSERT INTO "App-Deliveries" VALUE {'id':?}\n`,
  `INSERT INTO "App-Deliveries" VALUE {'id':?} ON CONFLICT DO NOTHING`,
  `INSERT INTO "App-Deliveries" VALUE {${"'a':?,".repeat(50_000)}}`,
  '',
])('refuses the statement %s', async Statement => {
  const { client } = await start();
  await createTables(client, [table]);
  const { Responses } = await client.send(new BatchExecuteStatementCommand({ Statements: [insert('a', Statement)] }));
  expect(Responses).toMatchObject([{ Error: { Code: 'ValidationError' } }]);
});

it.each([
  ['none', []],
  ['26', Array.from({ length: 26 }, (_, at) => insert(`id-${at}`))],
  ['two of one item', [insert('a'), insert('a')]],
])('refuses a batch of statements: %s', async (_name, Statements) => {
  const { client } = await start();
  await createTables(client, [table]);
  await expect(client.send(new BatchExecuteStatementCommand({ Statements }))).rejects.toThrow(
    expect.objectContaining({ name: 'ValidationException' }),
  );
});

/** Sends a batch as no SDK would. Returns the parsed answer. */
const sendBatch = async (endpoint: string, body: unknown) => {
  const credential = 'Credential=a/20261120/us-east-1/dynamodb/aws4_request';
  const headers = {
    'x-amz-target': 'DynamoDB_20120810.BatchExecuteStatement',
    authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host, Signature=b`,
    'x-amz-date': '20261120T120000Z',
    'content-type': 'application/x-amz-json-1.0',
  };
  return (await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(body) })).json();
};

const twice = `INSERT INTO "App-Deliveries" VALUE {'id':?,'id':?}`;

it.each([
  ['a statement that is none', null],
  ['parameters that are none', { ...insert('a'), Parameters: null }],
  ['an attribute named twice', { Statement: twice, Parameters: [{ S: 'a' }, { S: 'b' }] }],
])('refuses %s', async (_name, statement) => {
  const { client, endpoint } = await start();
  await createTables(client, [table]);
  const answer = await sendBatch(endpoint, { Statements: [statement] });
  expect(answer).toMatchObject({ Responses: [{ Error: { Code: 'ValidationError' } }] });
});

it('refuses a batch that is null', async () => {
  const { endpoint } = await start();
  expect(await sendBatch(endpoint, null)).toMatchObject({ message: 'A batch has 1 to 25 statements, not 0' });
});
