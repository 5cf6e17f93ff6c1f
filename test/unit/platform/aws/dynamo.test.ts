import { InternalServerError } from '@aws-sdk/client-dynamodb';
import { KMSInternalException, NotFoundException } from '@aws-sdk/client-kms';
import { describe, expect, it } from 'vitest';
import {
  isConditionFailed,
  isThrottled,
  isUnavailable,
  UnprocessedKeysError,
} from '../../../../lambdas/platform/aws/dynamo.ts';

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
    expect(isUnavailable(Object.assign(new Error('…'), { code: 'ECONNRESET' }))).toBe(true);
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
    expect(isThrottled(new UnprocessedKeysError())).toBe(true);
    expect(isThrottled('ThrottlingException')).toBe(false);
  });
});
