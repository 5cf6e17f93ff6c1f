import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../platform/clock.ts';
import { makeFixedWindow } from '../../platform/fixed-window.ts';
import type { EventName } from '../../webhooks/webhook.ts';

/** Limits per minute. Each counts a request, or gives the whole seconds to wait when the limit is reached. */
export interface RequestLimits {
  countTest(accountId: string): Promise<number | undefined>;
  countResend(accountId: string, eventName: EventName): Promise<number | undefined>;
}

/** Makes the limits. */
export function makeRequestLimits(dependencies: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  /** The table `Deliveries`: items `limit#tests#<account>` and `limit#resends#<account>#<event>`. */
  readonly table: string;
  readonly now: Clock;
  /** Tests per account and minute. */
  readonly testLimit: number;
  /** Resends per account, event and minute: a new registration does not reset the count. */
  readonly resendLimit: number;
}): RequestLimits {
  const { dynamo, table, now, testLimit, resendLimit } = dependencies;
  const tests = makeFixedWindow({
    dynamo,
    now,
    limit: testLimit,
    keyOf: accountId => ({ table, key: { id: `limit#tests#${accountId}` } }),
  });
  const resends = makeFixedWindow({
    dynamo,
    now,
    limit: resendLimit,
    keyOf: registration => ({ table, key: { id: `limit#resends#${registration}` } }),
  });
  return {
    countTest: tests.countWithinLimit,
    countResend: (accountId, eventName) => resends.countWithinLimit(`${accountId}#${eventName}`),
  };
}
