import { GetCommand, PutCommand, TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { makeTables } from '../../src/dynamodb/tables.ts';

// `lab/test/world/replay-dynamodb-local.test.ts` compares these answers with those of DynamoDB Local.

const TableName = 'Things';

describe('a transaction', () => {
  test('makes all its writes', () => {
    const { transact, put, read } = make();
    for (const id of ['changed', 'deleted', 'checked']) put(id, 1);
    const update = { UpdateExpression: 'SET n = n + :one', ExpressionAttributeValues: { ':one': 1 } };
    transact([
      { Put: { TableName, Item: { id: 'new', n: 1 } } },
      { Update: { TableName, Key: { id: 'changed' }, ...update } },
      { Delete: { TableName, Key: { id: 'deleted' } } },
      { ConditionCheck: { TableName, Key: { id: 'checked' }, ConditionExpression: 'attribute_exists(n)' } },
    ]);
    expect(['new', 'changed', 'deleted', 'checked'].map(read)).toEqual([1, 2, undefined, 1]);
  });

  test('makes none if a condition fails, and gives a reason for each operation', () => {
    const { transact, put, read } = make();
    put('there', 1);
    const Item = { id: 'there', n: 2 };
    const ConditionExpression = 'attribute_not_exists(id)';
    const refused = { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' };
    const act = () =>
      transact([
        { Put: { TableName, Item: { id: 'new', n: 1 } } },
        { Put: { TableName, Item, ConditionExpression, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } },
        { ConditionCheck: { TableName, Key: { id: 'missing' }, ConditionExpression: 'attribute_exists(id)' } },
      ]);
    expect(act).toThrow(
      expect.objectContaining({
        name: 'TransactionCanceledException',
        message: expect.stringContaining('[None, ConditionalCheckFailed, ConditionalCheckFailed]'),
        CancellationReasons: [
          { Code: 'None' },
          { ...refused, Item: { id: { S: 'there' }, n: { N: '1' } } },
          { ...refused, Item: undefined },
        ],
      }),
    );
    expect(['new', 'there'].map(read)).toEqual([undefined, 1]);
  });

  const put = (id: string) => ({ Put: { TableName, Item: { id, n: 1 } } });
  test.each<readonly [string, TransactWriteCommandInput['TransactItems']]>([
    ['two operations on one item', [put('a'), { Delete: { TableName, Key: { id: 'a' } } }]],
    ['over 100 operations', Array.from({ length: 101 }, (_, number) => put(`${number}`))],
    ['no operation', []],
    ['an item without its key', [put('a'), { Put: { TableName, Item: { n: 1 } } }]],
  ])('of %s is refused', (_, operations) => {
    const { transact, read } = make();
    expect(() => transact(operations)).toThrow(expect.objectContaining({ name: 'ValidationException' }));
    expect(read('a')).toBeUndefined();
  });

  test('with the token of an earlier one takes effect once in 10 minutes', () => {
    const clock = { now: 0 };
    const { transact, put: putAside, read } = make(() => clock.now);
    const repeat = () => transact([put('a')], 'token');
    repeat();
    putAside('a', 2);
    clock.now = 599_999;
    repeat();
    expect(read('a')).toBe(2);
    const mismatch = expect.objectContaining({ name: 'IdempotentParameterMismatchException' });
    expect(() => transact([put('b')], 'token')).toThrow(mismatch);
    clock.now = 600_000;
    repeat();
    expect(read('a')).toBe(1);
  });
});

function make(now = () => 0) {
  const definition = {
    TableName,
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' as const }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
  };
  const { execute } = makeTables({ definitions: [definition], now });
  return {
    transact: (TransactItems: TransactWriteCommandInput['TransactItems'], ClientRequestToken?: string) =>
      execute(new TransactWriteCommand({ TransactItems, ClientRequestToken })),
    put: (id: string, n: number) => execute(new PutCommand({ TableName, Item: { id, n } })),
    read: (id: string): unknown => execute(new GetCommand({ TableName, Key: { id } })).Item?.n,
  };
}
