import { InternalServerError } from '@aws-sdk/client-dynamodb';
import { KMSInternalException, NotFoundException } from '@aws-sdk/client-kms';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isConditionFailed, isUnavailable, UnprocessedKeysError } from '../../../../lambdas/platform/aws/dynamo.ts';
import { isThrottled } from '../../../../lambdas/platform/aws/failed-call.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';

describe('an error from an AWS client', () => {
  const named = (name: string) => Object.assign(new Error('…'), { name });
  const coded = (code: string) => Object.assign(new Error('…'), { code });
  const details = { message: '…', $metadata: {} };

  it.each<[string, unknown, string]>([
    ['a failed condition', named('ConditionalCheckFailedException'), 'condition'],
    ['a throttled table', named('ProvisionedThroughputExceededException'), 'throttled unavailable'],
    ['a throttled request', named('ThrottlingException'), 'throttled unavailable'],
    ['too many requests', named('RequestLimitExceeded'), 'throttled unavailable'],
    ['unprocessed keys', new UnprocessedKeysError('Users'), 'throttled unavailable'],
    ['no response', named('TimeoutError'), 'unavailable'],
    ['a request timeout', named('RequestTimeout'), 'unavailable'],
    ...['ECONNRESET', 'EAI_AGAIN', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH'].map(
      (code): [string, unknown, string] => [code, coded(code), 'unavailable'],
    ),
    ['a server error from DynamoDB', new InternalServerError(details), 'unavailable'],
    ['a server error from KMS', new KMSInternalException(details), 'unavailable'],
    ['a client error from KMS', new NotFoundException(details), ''],
    ['an invalid request', named('ValidationException'), ''],
    ['a missing permission', named('AccessDeniedException'), ''],
    ['a bug', named('TypeError'), ''],
    ['no error', 'ThrottlingException', ''],
  ])('is classified by name, code and status: %s', (_case, error, expected) => {
    const classes = {
      condition: isConditionFailed(error),
      throttled: isThrottled(error),
      unavailable: isUnavailable(error),
    };
    const shown = Object.entries(classes).flatMap(([name, isSo]) => (isSo ? name : []));
    expect(shown.join(' ')).toBe(expected);
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

  it('are stored without undefined values', async () => {
    const Item = { ...Key, none: undefined, map: { none: undefined, one: 1 }, list: [undefined, 1] };
    await database.dynamo(new PutCommand({ ...table, Item }));
    expect(await read()).toStrictEqual({ ...Key, map: { one: 1 }, list: [1] });
  });
});
