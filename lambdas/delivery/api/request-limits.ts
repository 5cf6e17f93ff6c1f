import type { StoreParts } from '../../platform/aws/dynamo.ts';
import { makeFixedWindow } from '../../platform/fixed-window.ts';
import type { EventName } from '../../webhooks/webhook.ts';
import { headKey } from '../store/head-key.ts';

export type RequestLimits = ReturnType<typeof makeRequestLimits>;

/**
 * Makes the limits. Each counts a request, or returns the whole seconds to wait when the limit is reached. Table `Deliveries`: items
 * `limit#tests#<account>` and `limit#resends#<account>#<event>`.
 */
export function makeRequestLimits({
  dynamo,
  table,
  now,
  testLimit,
  resendLimit,
}: StoreParts & {
  /** Tests per account and minute. */
  readonly testLimit: number;
  /** Resends per account, event and minute: a new registration does not reset the count. */
  readonly resendLimit: number;
}) {
  const limitOf = (limit: number, idOf: (subject: string) => string) =>
    makeFixedWindow({ dynamo, now, limit, keyOf: subject => headKey(table, idOf(subject)) });
  const tests = limitOf(testLimit, testLimitId);
  const resends = limitOf(resendLimit, resendLimitId);
  return { countTest, countResend };

  function countTest(accountId: string): Promise<number | undefined> {
    return tests.countWithinLimit(accountId);
  }

  function countResend(accountId: string, eventName: EventName): Promise<number | undefined> {
    return resends.countWithinLimit(`${accountId}#${eventName}`);
  }
}

export function limitIdsOf(accountId: string, eventNames: readonly EventName[]): readonly string[] {
  return [testLimitId(accountId), ...eventNames.map(eventName => resendLimitId(`${accountId}#${eventName}`))];
}

function testLimitId(accountId: string): string {
  return `limit#tests#${accountId}`;
}

function resendLimitId(registration: string): string {
  return `limit#resends#${registration}`;
}
