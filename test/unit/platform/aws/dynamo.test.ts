import { InternalServerError } from '@aws-sdk/client-dynamodb';
import { KMSInternalException, NotFoundException } from '@aws-sdk/client-kms';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isConditionFailed, isUnavailable, UnprocessedKeysError } from '../../../../lambdas/platform/aws/dynamo.ts';
import { isThrottled } from '../../../../lambdas/platform/aws/failed-call.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';

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

  it('treats a broken connection as unavailable, but not a refused request', () => {
    for (const code of ['ECONNRESET', 'EAI_AGAIN', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH']) {
      expect(isUnavailable(Object.assign(new Error('…'), { code }))).toBe(true);
    }
    for (const name of ['ValidationException', 'AccessDeniedException', 'TypeError']) {
      expect(isUnavailable(named(name))).toBe(false);
    }
  });

  it('treats a server error of AWS as unavailable, but not a client error', () => {
    const details = { message: '…', $metadata: {} };
    expect(isUnavailable(new InternalServerError(details))).toBe(true);
    expect(isUnavailable(new KMSInternalException(details))).toBe(true);
    expect(isUnavailable(new NotFoundException(details))).toBe(false);
  });

  it('treats unprocessed keys as throttling', () => {
    expect(isThrottled(new UnprocessedKeysError('Users'))).toBe(true);
    expect(isThrottled('ThrottlingException')).toBe(false);
  });
});

describe('the values of an item', () => {
  let database: Database;
  beforeAll(async () => {
    database = await startDatabase('Clients');
  });
  afterAll(() => database.stop());
  const table = { TableName: 'Clients' };
  const Key = { clientId: 'c' };
  const read = async () => (await database.dynamo(new GetCommand({ ...table, Key }))).Item;

  it('leave out what is undefined', async () => {
    const Item = { ...Key, none: undefined, map: { none: undefined, one: 1 }, list: [undefined, 1] };
    await database.dynamo(new PutCommand({ ...table, Item }));
    expect(await read()).toStrictEqual({ ...Key, map: { one: 1 }, list: [1] });
  });
});
