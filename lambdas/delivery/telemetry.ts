import { isReservedAccount } from '../auth/principals/account.ts';
import type { Log } from '../platform/telemetry.ts';
import type { AttemptRecord, Delivery } from './delivery.ts';

export type DeliveryMetric =
  /**
   * Attempts: one for each that delivered, zero for each that did not, so its sample count is the number of attempts. For smoke tests, it
   * includes only failures. It excludes tests and resends, because their owner may fail as often as they like.
   */
  | 'Delivered'
  /** Attempts by any other result. `Blocked` counts attempts that the URL policy or the SSRF guard blocked. */
  | 'Blocked'
  /** Attempts that failed because of an internal error, and messages that return to their queue because a store or a queue failed. */
  | 'InternalError'
  /** Events that are dropped because their account has no webhook for them. */
  | 'EventWithoutWebhook'
  /** Rejected events whose publishers could not be notified. */
  | 'NoticeNotSent';

/** The log and the metrics of delivery functions. */
export interface DeliveryTelemetry {
  readonly log: Log;
  readonly count: Count;
}

/** The log of the sweeper, and its only metric. */
export interface SweepTelemetry {
  readonly log: Log;
  /** Writes `OldestDue` after each successful sweep: by how many milliseconds the oldest pending delivery is overdue, or 0. */
  readonly measure: (metric: 'OldestDue', milliseconds: number) => void;
}

/**
 * Returns false for smoke tests. They run every hour, and CloudWatch bills each metric-hour. Their failures are counted like all
 * others, because alarms depend on these metrics.
 */
export function countsSuccess({ accountId }: Pick<Delivery, 'accountId'>): boolean {
  return !isReservedAccount(accountId);
}

/** Returns the loggable fields of a delivery, without its body, its webhook's URL and its receiver's responses. */
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

/** Increases a metric by one, or by the given number. */
type Count = (metric: DeliveryMetric, by?: number) => void;
