import { type BatchGetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchGet, makeBatchedReads } from '../../../../lambdas/platform/aws/batch-get.ts';
import { UnprocessedKeysError } from '../../../../lambdas/platform/aws/dynamo.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';

const user = (userId: string) => ({ table: 'Users', key: { userId } });
const key = (generation: number) => ({ table: 'Keyring', key: { kind: 'mac', generation } });
const k7 = { kind: 'mac', generation: 7, keyId: 'k7' };

interface Call {
  readonly input: { readonly RequestItems: { readonly Users?: { readonly Keys: { readonly userId: string }[] } } };
}

let database: Database;
beforeAll(async () => {
  database = await startDatabase('Clients', 'Users', 'Keyring');
  const put = (TableName: string, Item: Record<string, unknown>) =>
    database.dynamo(new PutCommand({ TableName, Item }));
  for (const userId of ['u1', 'u2', 'u3']) await put('Users', { userId });
  await put('Clients', { clientId: 'c1' });
  await put('Keyring', k7);
});
afterAll(() => database.stop());
beforeEach(() => {
  database.operations.length = 0;
});

describe('batchGet', () => {
  it('returns items from several tables in the order of their keys, with one strongly consistent call', async () => {
    const tables: Record<string, { ConsistentRead?: boolean }>[] = [];
    const dynamo = ((command: BatchGetCommand) => {
      tables.push(command.input.RequestItems ?? {});
      return database.dynamo(command);
    }) as typeof database.dynamo;
    const clients = ['nobody', 'c1'].map(clientId => ({ table: 'Clients', key: { clientId } }));
    expect(await batchGet(dynamo, [user('u2'), ...clients, user('u1'), key(7)])).toEqual([
      { userId: 'u2' },
      undefined,
      { clientId: 'c1' },
      { userId: 'u1' },
      k7,
    ]);
    const consistent = expect.objectContaining({ ConsistentRead: true });
    expect(tables).toEqual([{ Users: consistent, Clients: consistent, Keyring: consistent }]);
  });

  it('returns no item for an invalid key, and makes no call if all keys are invalid', async () => {
    const tooLong = { table: 'Clients', key: { clientId: 'é'.repeat(1_025) } };
    const items = await batchGet(database.dynamo, [user(''), user('u1'), tooLong]);
    expect(items).toEqual([undefined, { userId: 'u1' }, undefined]);
    expect(await batchGet(database.dynamo, [user('')])).toEqual([undefined]);
    expect(await batchGet(database.dynamo, [])).toEqual([]);
    expect(database.operations).toEqual(['BatchGetItemCommand']);
  });

  it('repeats the call for unprocessed keys, and fails after three calls', async () => {
    const unprocessed = { Users: { Keys: [{ userId: 'u1' }] } };
    const responses: object[] = [{ UnprocessedKeys: unprocessed }, { Responses: { Users: [{ userId: 'u1' }] } }];
    const dynamo = (async () => responses.shift() ?? { UnprocessedKeys: unprocessed }) as never;
    const keys = [user('u1')];
    expect(await batchGet(dynamo, keys)).toEqual([{ userId: 'u1' }]);
    await expect(batchGet(dynamo, keys)).rejects.toBeInstanceOf(UnprocessedKeysError);
  });
});

describe('batched reads', () => {
  it('read the keys of all callers in one call, each item once', async () => {
    const read = makeBatchedReads(database.dynamo);
    const all = await Promise.all([
      read([user('u1'), key(7)]),
      read([user('u2'), key(7)]),
      read([user('nobody'), { table: 'Keyring', key: { generation: 7, kind: 'mac' } }]),
      read([]),
    ]);
    expect(all).toEqual([[{ userId: 'u1' }, k7], [{ userId: 'u2' }, k7], [undefined, k7], []]);
    expect(database.operations).toEqual(['BatchGetItemCommand']);
  });

  it('read an item again for a caller during or after the call', async () => {
    const read = makeBatchedReads(database.dynamo);
    const first = read([user('u1')]);
    await Promise.resolve();
    await Promise.resolve();
    await Promise.all([first, read([user('u1')])]);
    await read([user('u1')]);
    expect(database.operations).toEqual(['BatchGetItemCommand', 'BatchGetItemCommand', 'BatchGetItemCommand']);
  });

  it('read 100 keys per call, and return its own items to each caller', async () => {
    const sizes: number[] = [];
    const send = async ({ input }: Call) => {
      const { Users: { Keys } = { Keys: [] } } = input.RequestItems;
      sizes.push(Keys.length);
      return { Responses: { Users: Keys.toReversed() } };
    };
    const read = makeBatchedReads(send as never);
    const requests = Array.from({ length: 90 }, (_, at) => [user(`a${at}`), user(`b${at}`), user('shared')]);
    const all = await Promise.all(requests.map(read));
    expect(all).toEqual(requests.map(request => request.map(({ key }) => key)));
    expect(sizes).toEqual([100, 81]);
  });

  it('repeat the call for unprocessed keys once, and then fail only for their callers', async () => {
    const requested: object[] = [];
    const send = async ({ input }: Call) => {
      const { Users: { Keys } = { Keys: [] } } = input.RequestItems;
      requested.push(Keys);
      const isFirst = requested.length === 1;
      const processed = Keys.filter(({ userId }) => userId === 'u1' || (userId === 'later' && !isFirst));
      return {
        Responses: { Users: processed },
        UnprocessedKeys: { Users: { Keys: Keys.filter(one => !processed.includes(one)) } },
      };
    };
    const read = makeBatchedReads(send as never);
    const requests = [[user('u1')], [user('u1'), user('never')], [user('later')]];
    const all = await Promise.allSettled(requests.map(read));
    expect(all).toMatchObject([
      { value: [{ userId: 'u1' }] },
      { reason: expect.any(UnprocessedKeysError) },
      { value: [{ userId: 'later' }] },
    ]);
    expect(requested).toEqual([
      [{ userId: 'u1' }, { userId: 'never' }, { userId: 'later' }],
      [{ userId: 'never' }, { userId: 'later' }],
    ]);
  });

  it('fail only for the callers of a failed call', async () => {
    const failure = new Error('down');
    const responses = [Promise.reject(failure), Promise.resolve({ Responses: { Users: [{ userId: 'u1' }] } })];
    responses[0]?.catch(() => {});
    const read = makeBatchedReads((() => responses.shift()) as never);
    const both = await Promise.allSettled([read([user('u1')]), read([user('u2'), user('u3')])]);
    expect(both).toMatchObject([{ reason: failure }, { reason: failure }]);
    expect(await read([user('u1')])).toEqual([{ userId: 'u1' }]);
  });
});
