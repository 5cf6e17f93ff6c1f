import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../platform/clock.ts';
import { makeFixedWindow } from '../../platform/fixed-window.ts';
import type { EventName } from '../../webhooks/webhook.ts';

/**
 * What an account's requests may cause in a minute. Each gives the whole seconds until there may be another, where a limit
 * is reached: then nothing is counted.
 */
export interface RequestLimits {
  countTest(accountId: string): Promise<number | undefined>;
  countResend(accountId: string, eventName: EventName): Promise<number | undefined>;
}

/** What the limits need. */
export interface RequestLimitDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  /** The table `Deliveries`: items `limit#tests#<account>` and `limit#resends#<account>#<event>`. */
  readonly table: string;
  readonly now: Clock;
  /** Tests of an account in a minute. */
  readonly testLimit: number;
  /** Resends in a minute of what belongs to one event of an account: registering anew does not begin anew. */
  readonly resendLimit: number;
}

/** Makes the limits. */
export function makeRequestLimits(dependencies: RequestLimitDependencies): RequestLimits {
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
