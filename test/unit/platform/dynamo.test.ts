import { InternalServerError } from '@aws-sdk/client-dynamodb';
import { KMSInternalException, NotFoundException } from '@aws-sdk/client-kms';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  isConditionFailed,
  isThrottled,
  isUnavailable,
  readTogether,
  UnprocessedKeysError,
} from '../../../lambdas/platform/dynamo.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';

let dynalite: Dynalite;
beforeAll(async () => {
  dynalite = await startDynalite('Clients', 'Users', 'Keyring');
  const put = (TableName: string, Item: Record<string, unknown>) =>
    dynalite.dynamo.send(new PutCommand({ TableName, Item }));
  await put('Clients', { clientId: 'c1', name: 'one' });
  await put('Users', { userId: 'u1', role: 'admin' });
  await put('Users', { userId: 'u2', role: 'member' });
  await put('Keyring', { kind: 'mac', generation: 7, keyId: 'k7' });
});
afterAll(() => dynalite.stop());

describe('readTogether', () => {
  it('gives the items of several tables in the order asked for, in one operation', async () => {
    dynalite.operations.length = 0;
    const items = await readTogether(dynalite.dynamo, [
      { table: 'Users', key: { userId: 'u2' } },
      { table: 'Clients', key: { clientId: 'nobody' } },
      { table: 'Clients', key: { clientId: 'c1' } },
      { table: 'Users', key: { userId: 'u1' } },
      { table: 'Keyring', key: { kind: 'mac', generation: 7 } },
    ]);
    expect(items).toEqual([
      { userId: 'u2', role: 'member' },
      undefined,
      { clientId: 'c1', name: 'one' },
      { userId: 'u1', role: 'admin' },
      { kind: 'mac', generation: 7, keyId: 'k7' },
    ]);
    expect(dynalite.operations).toEqual(['BatchGetItemCommand']);
  });

  it('asks for nothing when nothing is wanted', async () => {
    dynalite.operations.length = 0;
    expect(await readTogether(dynalite.dynamo, [])).toEqual([]);
    expect(dynalite.operations).toEqual([]);
  });

  it('finds nothing under a key that no item can have, and asks for the others all the same', async () => {
    const items = await readTogether(dynalite.dynamo, [
      { table: 'Users', key: { userId: '' } },
      { table: 'Users', key: { userId: 'u1' } },
      { table: 'Clients', key: { clientId: 'é'.repeat(1_025) } },
    ]);
    expect(items).toEqual([undefined, { userId: 'u1', role: 'admin' }, undefined]);
    dynalite.operations.length = 0;
    expect(await readTogether(dynalite.dynamo, [{ table: 'Users', key: { userId: '' } }])).toEqual([undefined]);
    expect(dynalite.operations).toEqual([]);
  });

  it('fetches keys that were held back, and gives up after three tries', async () => {
    const keptBack = { Users: { Keys: [{ userId: 'u1' }] } };
    const answers: object[] = [
      { UnprocessedKeys: keptBack },
      { Responses: { Users: [{ userId: 'u1', role: 'admin' }] } },
    ];
    const dynamo = { send: async () => answers.shift() ?? { UnprocessedKeys: keptBack } } as never;
    const addresses = [{ table: 'Users', key: { userId: 'u1' } }];
    expect(await readTogether(dynamo, addresses)).toEqual([{ userId: 'u1', role: 'admin' }]);
    await expect(readTogether(dynamo, addresses)).rejects.toBeInstanceOf(UnprocessedKeysError);
  });
});

describe('errors of AWS clients', () => {
  const named = (name: string) => Object.assign(new Error('…'), { name });

  it.each([
    ['ConditionalCheckFailedException', true, false],
    ['ProvisionedThroughputExceededException', false, true],
    ['ThrottlingException', false, true],
    ['RequestLimitExceeded', false, true],
    ['ValidationException', false, false],
  ])('%s: condition failed %s, throttled %s', (name, conditionFailed, throttled) => {
    expect(isConditionFailed(named(name))).toBe(conditionFailed);
    expect(isThrottled(named(name))).toBe(throttled);
  });

  it.each(['TimeoutError', 'RequestTimeout', 'ThrottlingException', 'UnprocessedKeysError'])(
    '%s: the same request may succeed in a moment',
    name => expect(isUnavailable(named(name))).toBe(true),
  );

  it('takes a cut connection for a moment’s trouble, and a refusal for a fault', () => {
    expect(isUnavailable(Object.assign(new Error('…'), { code: 'ECONNRESET' }))).toBe(true);
    for (const name of ['ValidationException', 'AccessDeniedException', 'TypeError']) {
      expect(isUnavailable(named(name))).toBe(false);
    }
  });

  it('takes a fault of a service of AWS’s own for a moment’s trouble, and one that it finds with us for ours', () => {
    const details = { message: '…', $metadata: {} };
    expect(isUnavailable(new InternalServerError(details))).toBe(true);
    expect(isUnavailable(new KMSInternalException(details))).toBe(true);
    expect(isUnavailable(new NotFoundException(details))).toBe(false);
  });

  it('counts keys that stayed unread as throttling', () => {
    expect(isThrottled(new UnprocessedKeysError())).toBe(true);
    expect(isThrottled('ThrottlingException')).toBe(false);
  });
});

describe('a batch', () => {
  it('asks for consistent reads, on every try', async () => {
    const asked: { RequestItems: Record<string, { ConsistentRead?: boolean }> }[] = [];
    const send = async ({ input }: { input: (typeof asked)[number] }) => {
      asked.push(input);
      return {};
    };
    await readTogether({ send } as never, [
      { table: 'A', key: { id: '1' } },
      { table: 'A', key: { id: '2' } },
      { table: 'B', key: { id: '1' } },
    ]);
    const asks = asked.flatMap(({ RequestItems }) => Object.values(RequestItems));
    expect(asks).toHaveLength(2);
    for (const ask of asks) expect(ask.ConsistentRead).toBe(true);
  });
});
