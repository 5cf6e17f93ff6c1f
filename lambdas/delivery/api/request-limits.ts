import type { StoreParts } from '../../platform/aws/dynamo.ts';
import { type FixedWindow, makeFixedWindow } from '../../platform/fixed-window.ts';
import type { EventName } from '../../webhooks/webhook.ts';
import { headKey } from '../store/head-key.ts';

export type RequestLimits = ReturnType<typeof makeRequestLimits>;

/**
 * Creates the rate limits for tests and resends. Each function counts a request. If the limit is reached, it returns the
 * wait in whole seconds. The counts are the items `limit#tests#<account>` and `limit#resends#<account>#<event>` in table `Deliveries`.
 */
export function makeRequestLimits({ testLimit, resendLimit, ...stored }: StoreParts & typeof requestLimits) {
  const tests = limitOf(stored, testLimit, testLimitId);
  const resends = limitOf(stored, resendLimit, resendLimitId);
  return { countTest, countResend };

  function countTest(accountId: string): Promise<number | undefined> {
    return tests.countWithinLimit(accountId);
  }

  function countResend(accountId: string, eventName: EventName): Promise<number | undefined> {
    return resends.countWithinLimit(`${accountId}#${eventName}`);
  }
}

/**
 * Creates the rate limit for registrations and replacements per account. The count is the item `limit#registrations#<account>` in table
 * `Deliveries`.
 */
export function makeCountRegistration({
  registrationLimit,
  ...stored
}: StoreParts & { readonly registrationLimit: number }) {
  return limitOf(stored, registrationLimit, registrationLimitId).countWithinLimit;
}

/** The maximum number of requests per minute. */
export const requestLimits: {
  /** The maximum number of tests per account. */
  readonly testLimit: number;
  /** The maximum number of resends per account and event. A new registration does not reset the count. */
  readonly resendLimit: number;
} = { testLimit: 10, resendLimit: 60 };

export function limitIdsOf(accountId: string, eventNames: readonly EventName[]): readonly string[] {
  return [
    registrationLimitId(accountId),
    testLimitId(accountId),
    ...eventNames.map(eventName => resendLimitId(`${accountId}#${eventName}`)),
  ];
}

function limitOf({ dynamo, table, now }: StoreParts, limit: number, idOf: (subject: string) => string): FixedWindow {
  return makeFixedWindow({ dynamo, now, limit, keyOf: subject => headKey(table, idOf(subject)) });
}

function registrationLimitId(accountId: string): string {
  return `limit#registrations#${accountId}`;
}

function testLimitId(accountId: string): string {
  return `limit#tests#${accountId}`;
}

function resendLimitId(registration: string): string {
  return `limit#resends#${registration}`;
}
