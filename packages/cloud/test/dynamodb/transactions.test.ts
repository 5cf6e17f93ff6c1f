import { GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { makeTables } from '../../src/dynamodb/tables.ts';

// `lab/test/world/replay-dynamodb-local.test.ts` compares transactions with those of DynamoDB Local, except for token expiry.

const TableName = 'Things';

test('executes a transaction with a repeated token only once within 10 minutes', () => {
  const clock = { now: 0 };
  const { execute } = make(() => clock.now);
  const put = (id: string, n: number) => ({ TableName, Item: { id, n } });
  const transact = (...puts: object[]) => {
    const TransactItems = puts.map(Put => ({ Put }) as never);
    return execute(new TransactWriteCommand({ TransactItems, ClientRequestToken: 'token' }));
  };
  const read = () => execute(new GetCommand({ TableName, Key: { id: 'a' } })).Item?.n;
  transact(put('a', 1));
  execute(new PutCommand(put('a', 2)));
  clock.now = 599_999;
  transact(put('a', 1));
  expect(read()).toBe(2);
  const mismatch = expect.objectContaining({ name: 'IdempotentParameterMismatchException' });
  expect(() => transact(put('b', 1))).toThrow(mismatch);
  clock.now = 600_000;
  transact(put('a', 1));
  expect(read()).toBe(1);
});

test('rejects a transaction with an item that lacks its key', () => {
  const { execute } = make();
  const puts = [{ id: 'a' }, { n: 1 }].map(Item => ({ Put: { TableName, Item } }));
  const act = () => execute(new TransactWriteCommand({ TransactItems: puts }));
  expect(act).toThrow(expect.objectContaining({ name: 'ValidationException' }));
  expect(execute(new GetCommand({ TableName, Key: { id: 'a' } }))).toEqual({});
});

function make(now = () => 0) {
  const definition = {
    TableName,
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' as const }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
  };
  return makeTables({ definitions: [definition], now });
}
