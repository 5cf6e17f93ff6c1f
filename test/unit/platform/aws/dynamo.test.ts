import { InternalServerError, PutItemCommand } from '@aws-sdk/client-dynamodb';
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

  // Releases before whole numbers were the rule left such numbers in tables. The library alone reads the second as a bigint, and throws for the third.
  it.each([
    ['of 28 digits', '1732000000123.456789012345678', 1_732_000_000_123.456_8],
    ['over 2^53', '9007199254740993', 2 ** 53],
    ['over 2^53 with a fraction', '9007199254740993.5', 9_007_199_254_740_994],
    ['that is huge', '1e125', 1e125],
  ])('are read as doubles where a number %s stands in the table', async (_, N, number) => {
    const Item = { clientId: { S: 'c' }, count: { N }, list: { L: [{ M: { at: { N } } }] } };
    await database.client.send(new PutItemCommand({ ...table, Item }));
    expect(await read()).toEqual({ ...Key, count: number, list: [{ at: number }] });
  });

  it('leave out what is undefined', async () => {
    const Item = { ...Key, none: undefined, map: { none: undefined, one: 1 }, list: [undefined, 1] };
    await database.dynamo(new PutCommand({ ...table, Item }));
    expect(await read()).toStrictEqual({ ...Key, map: { one: 1 }, list: [1] });
  });
});
