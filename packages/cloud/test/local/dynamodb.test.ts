import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  BatchExecuteStatementCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTables, startDynamoDb, tableOf } from '../../src/local/dynamodb.ts';
import { liveResource } from './live-resource.ts';
import { settingsOf } from './sdk-client.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const directory = join(temporaryDirectory(), 'tables');

const start = async (kept?: string) => {
  const { endpoint, stop } = await startDynamoDb(kept === undefined ? {} : { directory: kept });
  const client = new DynamoDBClient(settingsOf(endpoint));
  let ended: Promise<void> | undefined;
  const end = () => {
    client.destroy();
    ended ??= stop();
    return ended;
  };
  onTestFinished(end);
  return { endpoint, client, end };
};

/** As the CDK writes a table: with what has no effect locally. */
const properties = {
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
};
const table = tableOf(liveResource('AWS::DynamoDB::GlobalTable', properties, { logicalId: 'Deliveries' }));

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

describe('a batch of statements', () => {
  const insert = (id: string, table = 'App-Deliveries') => ({
    Statement: `INSERT INTO "${table}" VALUE {'id':?}`,
    Parameters: [{ S: id }],
  });

  it('inserts what does not exist yet, each statement on its own', async () => {
    const { client } = await start();
    await createTables(client, [table]);
    const TableName = 'App-Deliveries';
    await client.send(new PutItemCommand({ TableName, Item: { id: { S: 'b' }, old: { BOOL: true } } }));
    const Statements = [insert('a'), insert('b'), insert(''), insert('a', 'Elsewhere'), insert('b', 'Elsewhere')];
    const { Responses } = await client.send(new BatchExecuteStatementCommand({ Statements }));
    expect(Responses?.map(answer => answer.Error?.Code)).toEqual([
      undefined,
      'DuplicateItem',
      'ValidationError',
      'ResourceNotFound',
      'ResourceNotFound',
    ]);
    const read = (id: string) => client.send(new GetItemCommand({ TableName, Key: { id: { S: id } } }));
    expect((await read('a')).Item).toEqual({ id: { S: 'a' } });
    expect((await read('b')).Item).toHaveProperty('old');
  });

  const one = (Statement: string, Parameters: unknown = [{ S: 'a' }]) => ({ Statements: [{ Statement, Parameters }] });
  it.each<[string, unknown]>([
    ['none', { Statements: [] }],
    ['26', { Statements: Array.from({ length: 26 }, (_, at) => insert(`id-${at}`)) }],
    ['two of one item', { Statements: [insert('a'), insert('a')] }],
    ['a batch that is null', null],
    ['a statement that is null', { Statements: [null] }],
    ['a statement without text', one('')],
    ['parameters that are null', one(insert('a').Statement, null)],
    ['a statement that reads', one('SELECT * FROM "App-Deliveries"')],
    ['a statement that deletes', one('DELETE FROM "App-Deliveries" WHERE id = ?')],
    ['a parameter too few', one(`INSERT INTO "App-Deliveries" VALUE {'id':?,'other':?}`)],
    ['an attribute named twice', one(`INSERT INTO "App-Deliveries" VALUE {'id':?,'id':?}`, [{ S: 'a' }, { S: 'b' }])],
    ['a value in the text', one(`INSERT INTO "App-Deliveries" VALUE {'id':'a'}`)],
    ['text that goes on', one(`INSERT INTO "App-Deliveries" VALUE {'id':?} ON CONFLICT DO NOTHING`)],
    ['a line that goes on', one(`INSERT INTO "App-Deliveries" VALUE {'id':?}\n`)],
    ['a list that ends with a comma', one(`INSERT INTO "App-Deliveries" VALUE {${"'a':?,".repeat(50_000)}}`)],
  ])('is refused: %s', async (_what, body) => {
    const { client, endpoint } = await start();
    await createTables(client, [table]);
    const credential = 'Credential=a/20261120/us-east-1/dynamodb/aws4_request';
    const headers = {
      'x-amz-target': 'DynamoDB_20120810.BatchExecuteStatement',
      authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host, Signature=b`,
      'x-amz-date': '20261120T120000Z',
      'content-type': 'application/x-amz-json-1.0',
    };
    const answer = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(body) });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { __type: expect.stringMatching(/ValidationException$/) },
    ]);
  });
});
