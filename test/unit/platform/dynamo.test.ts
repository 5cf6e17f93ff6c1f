import { InternalServerError } from '@aws-sdk/client-dynamodb';
import { KMSInternalException, NotFoundException } from '@aws-sdk/client-kms';
import { describe, expect, it } from 'vitest';
import {
  isConditionFailed,
  isThrottled,
  isUnavailable,
  UnprocessedKeysError,
} from '../../../lambdas/platform/dynamo.ts';

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
