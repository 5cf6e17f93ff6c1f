import type { Dynamo } from '../../platform/aws/dynamo.ts';
import type { Clock } from '../../platform/clock.ts';
import { makeFixedWindow } from '../../platform/fixed-window.ts';
import type { EventName } from '../../webhooks/webhook.ts';
import { headKey } from '../store/head-key.ts';

export type RequestLimits = ReturnType<typeof makeRequestLimits>;

/** Makes the limits. Each counts a request, or returns the whole seconds to wait when the limit is reached. */
export function makeRequestLimits({
  dynamo,
  table,
  now,
  testLimit,
  resendLimit,
}: {
  readonly dynamo: Dynamo;
  /** The table `Deliveries`: items `limit#tests#<account>` and `limit#resends#<account>#<event>`. */
  readonly table: string;
  readonly now: Clock;
  /** Tests per account and minute. */
  readonly testLimit: number;
  /** Resends per account, event and minute: a new registration does not reset the count. */
  readonly resendLimit: number;
}) {
  const tests = makeFixedWindow({
    dynamo,
    now,
    limit: testLimit,
    keyOf: accountId => headKey(table, testLimitId(accountId)),
  });
  const resends = makeFixedWindow({
    dynamo,
    now,
    limit: resendLimit,
    keyOf: registration => headKey(table, resendLimitId(registration)),
  });
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
