import { isReservedAccount } from '../auth/principals/account.ts';
import type { Log } from '../platform/telemetry.ts';
import type { AttemptRecord, Delivery } from './delivery.ts';

export type DeliveryMetric =
  /**
   * 1 for each successful attempt and 0 for each failed attempt, so the sample count is the number of attempts. Excludes the successes of
   * smoke tests. Excludes tests and resends, because users may deliberately repeat failures.
   */
  | 'Delivered'
  /** The number of attempts that the URL policy or the SSRF guard blocked. */
  | 'Blocked'
  /** The number of attempts that ended with an internal error, and of messages whose processing failed. */
  | 'InternalError'
  /** The number of events that were dropped because their account has no webhook for them. */
  | 'EventWithoutWebhook'
  /** The number of notices about rejected events that could not be published. */
  | 'NoticeNotSent';

export interface DeliveryTelemetry {
  readonly log: Log;
  readonly count: Count;
}

/** The log of the sweeper, and its only metric. */
export interface SweepTelemetry {
  readonly log: Log;
  /** Records `OldestDue` after each successful sweep. The value is the maximum time by which a delivery is overdue, or 0. */
  readonly measure: (metric: 'OldestDue', milliseconds: number) => void;
}

/**
 * Returns false for smoke tests, because they run every hour and CloudWatch bills each metric-hour. Their failures are counted, because
 * alarms depend on them.
 */
export function countsSuccess({ accountId }: Pick<Delivery, 'accountId'>): boolean {
  return !isReservedAccount(accountId);
}

/** Returns the loggable fields of a delivery. They exclude its body, the webhook's URL and the receiver's responses. */
export function describeDelivery({ id, messageId, accountId, eventName, attempt }: Delivery) {
  return {
    deliveryId: id,
    messageId,
    account: accountId,
    event: eventName,
    attempt,
  };
}

export function describeAttempt({ result, cause, status, durationMs }: AttemptRecord) {
  return { result, cause, status, durationMs };
}

/** Adds `by` to a metric. @default - 1 */
type Count = (metric: DeliveryMetric, by?: number) => void;
