import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BatchExecuteStatementCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import * as sdk from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readItem, writeItem } from '../../../../lambdas/platform/aws/attribute-values.ts';
import * as documents from '../../../../lambdas/platform/aws/documents.ts';

/** A DynamoDB that keeps what it is asked and says what it is told. */
let asked: { target: string | undefined; type: string | undefined; body: unknown };
let answer: { status: number; body: string };
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', part => parts.push(part));
  request.on('end', () => {
    const { 'x-amz-target': target, 'content-type': type } = request.headers;
    asked = { target: String(target), type, body: JSON.parse(Buffer.concat(parts).toString()) };
    response.writeHead(answer.status, { 'x-amzn-requestid': 'REQUEST1' }).end(answer.body);
  });
});
let ours: sdk.DynamoDBDocumentClient;
let theirs: sdk.DynamoDBDocumentClient;

beforeAll(async () => {
  server.keepAliveTimeout = 0; // on a busy machine a connection is idle for longer than the five seconds that Node keeps it
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const settings = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'sa-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  };
  ours = documents.makeDocumentClient(settings);
  theirs = sdk.DynamoDBDocumentClient.from(new DynamoDBClient(settings), {
    marshallOptions: { removeUndefinedValues: true },
  });
});
afterAll(() => {
  ours.destroy();
  theirs.destroy();
  server.close();
});

/** The request of a call, and what it makes of an answer or an error. */
const call = async (send: () => Promise<unknown>, body: unknown = {}, status = 200) => {
  answer = { status, body: JSON.stringify(body) };
  const said = await send().then(
    (output: unknown) => ({ ...(output as object), $metadata: { ...(output as { $metadata: object }).$metadata } }),
    (error: Error & Record<string, unknown>) => ({
      class: error.constructor.name,
      ...Object.fromEntries(['name', 'message', '$fault', 'Item', '$metadata'].map(name => [name, error[name]])),
    }),
  );
  return { asked, said };
};

const Item = {
  id: 'ção 😀 \u2028 \ud800',
  empty: '',
  number: -1.5e-7,
  list: [1, 'a', null, undefined, [true]],
  map: { inner: { bytes: Buffer.from('\x00\xffabc') } },
  nothing: undefined,
};
const Key = { id: 'a', sort: 3 };
const attributes = {
  id: { S: 'ção 😀' },
  number: { N: '-1.5e-7' },
  big: { N: '9007199254740991' },
  list: { L: [{ N: '1' }, { NULL: true }, { BOOL: false }] },
  map: { M: { inner: { M: { bytes: { B: 'AP9hYmM=' } } } } },
};
const table = { TableName: 'table' };
const condition = {
  ConditionExpression: '#n0 = :v0',
  ExpressionAttributeNames: { '#n0': 'id' },
  ExpressionAttributeValues: { ':v0': Item.map },
};

const { ConditionExpression, ...placeholders } = condition;
const keyCondition = { KeyConditionExpression: ConditionExpression, ...placeholders };
const { makeDocumentClient: _, paginateScan: __, ...ownCommands } = documents;
const sdkCommands: typeof ownCommands = sdk;

describe('the document client asks and answers as that of the SDK does:', () => {
  it.each([
    ['GetItem', 'GetCommand', { ...table, Key, ConsistentRead: true }, { Item: attributes }],
    ['GetItem of none', 'GetCommand', { ...table, Key }, {}],
    [
      'PutItem',
      'PutCommand',
      { ...table, Item, ...condition, ReturnConsumedCapacity: 'TOTAL' },
      { ConsumedCapacity: { TableName: 'table', CapacityUnits: 2 } },
    ],
    [
      'UpdateItem',
      'UpdateCommand',
      { ...table, Key, UpdateExpression: 'SET #n0 = :v0', ...condition, ReturnValues: 'ALL_NEW' },
      { Attributes: attributes },
    ],
    [
      'DeleteItem',
      'DeleteCommand',
      { ...table, Key, ...condition, ReturnValues: 'ALL_OLD' },
      { Attributes: attributes },
    ],
    [
      'Query',
      'QueryCommand',
      { ...table, IndexName: 'Due', ...keyCondition, ExclusiveStartKey: Key, Limit: 3, ScanIndexForward: false },
      { Items: [attributes, {}], Count: 2, LastEvaluatedKey: { id: { S: 'a' }, sort: { N: '3' } } },
    ],
    ['Query of none', 'QueryCommand', { ...table, ...keyCondition }, { Items: [], Count: 0 }],
    ['Scan', 'ScanCommand', { ...table, Segment: 0, TotalSegments: 2 }, { Items: [attributes] }],
    [
      'BatchGetItem',
      'BatchGetCommand',
      { RequestItems: { one: { Keys: [Key, { id: 'b' }], ConsistentRead: true }, 'other.2': { Keys: [Key] } } },
      {
        Responses: { one: [attributes], 'other.2': [] },
        UnprocessedKeys: { one: { Keys: [{ id: { S: 'b' } }], ConsistentRead: true } },
      },
    ],
    [
      'BatchWriteItem',
      'BatchWriteCommand',
      { RequestItems: { one: [{ PutRequest: { Item } }, { DeleteRequest: { Key } }] } },
      {
        UnprocessedItems: {
          one: [{ DeleteRequest: { Key: { id: { S: 'a' } } } }, { PutRequest: { Item: attributes } }],
        },
      },
    ],
  ] as const)('%s', async (_name, command, input, output) => {
    const one = await call(() => ours.send(new ownCommands[command](input as never) as never), output);
    const other = await call(() => theirs.send(new sdkCommands[command](input as never) as never), output);
    expect(one).toEqual(other);
  });

  it('BatchExecuteStatement', async () => {
    const Statements = [{ Statement: `INSERT INTO "t" VALUE {'id':?}`, Parameters: ['a'] }];
    const output = {
      Responses: [{ TableName: 't' }, { Error: { Code: 'DuplicateItem', Message: 'm', Item: attributes } }],
    };
    const one = await call(() => ours.send(new documents.BatchExecuteStatementCommand({ Statements })), output);
    const other = await call(() => theirs.send(new sdk.BatchExecuteStatementCommand({ Statements })), output);
    expect(one).toEqual(other);
    expect(BatchExecuteStatementCommand).toBe(documents.BatchExecuteStatementCommand);
  });

  it('an operation without items', async () => {
    const one = await call(() => ours.send(new ListTablesCommand({ Limit: 1 }) as never), { TableNames: ['a'] });
    const other = await call(() => theirs.send(new ListTablesCommand({ Limit: 1 }) as never), { TableNames: ['a'] });
    expect(one).toEqual(other);
  });

  it.each([
    ['ConditionalCheckFailedException', 400],
    ['ProvisionedThroughputExceededException', 400],
    ['ValidationException', 400],
    ['ExpiredTokenException', 400],
    ['NobodyKnowsThisException', 400],
    ['InternalServerError', 500],
    ['ServiceUnavailable', 503],
  ])('the error %s (%d)', async (name, status) => {
    const body = { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'Said by DynamoDB' };
    const one = await call(() => ours.send(new documents.PutCommand({ ...table, Item })), body, status);
    const other = await call(() => theirs.send(new sdk.PutCommand({ ...table, Item })), body, status);
    expect(one).toEqual(other);
    expect(one.said).toMatchObject({ name, message: 'Said by DynamoDB', $metadata: { httpStatusCode: status } });
  });
});

/** Values that DynamoDB keeps, in maps with such names. */
const valuesNamed = (names: fc.Arbitrary<string>) =>
  fc.letrec(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.double({ noDefaultInfinity: true, noNaN: true, min: -1e15, max: 1e15 }).map(number => number + 0),
      fc.boolean(),
      fc.constant(null),
      fc.uint8Array(),
      fc.array(tie('value')),
      fc.dictionary(names, tie('value'), { noNullPrototype: true }),
    ),
  })).value;

it('an item is written as the SDK writes it', async () => {
  const names = fc.string().filter(name => name !== '__proto__'); // the SDK takes it for the prototype
  await fc.assert(
    fc.asyncProperty(valuesNamed(names), async value => {
      const command = { ...table, Item: { value } };
      const one = await call(() => ours.send(new documents.PutCommand(command)));
      const other = await call(() => theirs.send(new sdk.PutCommand(command)));
      expect(one).toEqual(other);
    }),
    { numRuns: 200 },
  );
});

it('an item is read as it was written', () => {
  fc.assert(
    fc.property(valuesNamed(fc.oneof(fc.string(), fc.constant('__proto__'))), value => {
      expect(readItem(JSON.parse(writeItem({ value })))).toStrictEqual({ value });
    }),
  );
});

it.each([
  ['not a number', Number.NaN],
  ['infinite', Number.POSITIVE_INFINITY],
  ['beyond the integers that a number holds', 2 ** 53],
  ['a bigint', 1n],
  ['a function', () => {}],
  ['a date', new Date()],
  ['a set', new Set(['canary'])],
])('a value that is %s is refused, and not shown', async (_name, value) => {
  const write = ours.send(new documents.PutCommand({ ...table, Item: { deep: [{ value }] } }));
  await expect(write).rejects.toThrow(/^DynamoDB does not keep this kind of value: [\w$,]*\.$/);
  await expect(write).rejects.not.toThrow(/canary/);
});
