import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDynamoDb } from '../src/dynamodb.ts';
import type { UsageLine } from '../src/usage.ts';
import { settingsOf } from './sdk-client.ts';

const TableName = 'Things';
const lines: UsageLine[] = [];
let engine: Awaited<ReturnType<typeof startDynamoDb>>;
let client: DynamoDBClient;

beforeAll(async () => {
  engine = await startDynamoDb({ recordUsage: line => lines.push(line) });
  client = new DynamoDBClient(settingsOf(engine.endpoint, 'a-function'));
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  );
});
afterAll(async () => {
  client.destroy();
  await engine.stop();
});

const large = (id: string) => ({ id: { S: id }, text: { S: 'x'.repeat(5_000) } });
const insert = (id: string) => ({
  Statement: `INSERT INTO "${TableName}" VALUE {'id':?,'text':?}`,
  Parameters: [{ S: id }, { S: 'x'.repeat(1_500) }],
});
const unitsOfLast = () => {
  const line = lines.at(-1);
  return line?.kind === 'request' ? [line.caller, line.operation, line.units] : undefined;
};

it('operations are recorded with their caller and units', async () => {
  await client.send(new PutItemCommand({ TableName, Item: large('a') }));
  expect(unitsOfLast()).toEqual(['a-function', 'PutItem', { write: 5, read: 0 }]);
  await client.send(new GetItemCommand({ TableName, Key: { id: { S: 'a' } }, ConsistentRead: true }));
  expect(unitsOfLast()).toEqual(['a-function', 'GetItem', { write: 0, read: 2 }]);
  const Keys = [{ id: { S: 'a' } }, { id: { S: 'missing' } }];
  await client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys } } }));
  expect(unitsOfLast()).toEqual(['a-function', 'BatchGetItem', { write: 0, read: 1.5 }]);
  const condition = { KeyConditionExpression: 'id = :id', ExpressionAttributeValues: { ':id': { S: 'a' } } };
  await client.send(new QueryCommand({ TableName, ...condition }));
  expect(unitsOfLast()).toEqual(['a-function', 'Query', { write: 0, read: 1 }]);
});

it('a write whose condition fails counts what is there', async () => {
  const Item = { id: { S: 'a' } };
  const put = new PutItemCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(id)' });
  await expect(client.send(put)).rejects.toThrow();
  expect(unitsOfLast()).toEqual(['a-function', 'PutItem', { write: 5, read: 0 }]);
});

it('statements that insert count as the puts that they are, refused ones too', async () => {
  await client.send(new BatchExecuteStatementCommand({ Statements: [insert('b'), insert('c'), insert('a')] }));
  expect(unitsOfLast()).toEqual(['a-function', 'BatchExecuteStatement', { write: 2 + 2 + 5, read: 0 }]);
});

it('an operation that is not counted is not answered, rather than counted as nothing', async () => {
  const TransactItems = [{ Put: { TableName, Item: { id: { S: 'z' } } } }];
  await expect(client.send(new TransactWriteItemsCommand({ TransactItems }))).rejects.toThrow();
});
