import { isReservedAccount } from '../auth/principals/account.ts';
import type { Log } from '../platform/telemetry.ts';
import type { AttemptRecord, Delivery } from './delivery.ts';

export type DeliveryMetric =
  /**
   * The success of each attempt (1 or 0), so the sample count is the number of attempts. For smoke tests, it includes only failures. It
   * excludes tests and resends, because users may deliberately repeat those that fail.
   */
  | 'Delivered'
  /** The number of attempts that the URL policy or the SSRF guard blocked. */
  | 'Blocked'
  /** The number of attempts that failed because of an internal error, and of messages that were deferred because of one. */
  | 'InternalError'
  /** The number of events that were dropped because their account has no webhook for them. */
  | 'EventWithoutWebhook'
  /** The number of failed notifications of publishers about rejected events. */
  | 'NoticeNotSent';

/** The log and the metrics of delivery functions. */
export interface DeliveryTelemetry {
  readonly log: Log;
  readonly count: Count;
}

/** The log of the sweeper, and its only metric. */
export interface SweepTelemetry {
  readonly log: Log;
  /** Writes `OldestDue` after each successful sweep. It is the maximum number of milliseconds by which a delivery is overdue, or 0. */
  readonly measure: (metric: 'OldestDue', milliseconds: number) => void;
}

/**
 * Returns false for smoke tests, because they run every hour, and CloudWatch bills each metric-hour. Their failures are counted, because
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

/** Returns the loggable fields of an attempt. */
export function describeAttempt({ result, cause, status, durationMs }: AttemptRecord) {
  return { result, cause, status, durationMs };
}

/** Adds `by` to a metric. @default - 1 */
type Count = (metric: DeliveryMetric, by?: number) => void;
