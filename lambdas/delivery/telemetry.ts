import { isReservedAccount } from '../auth/principals/account.ts';
import type { Log } from '../platform/telemetry.ts';
import type { AttemptRecord, Delivery } from './delivery.ts';

export type DeliveryMetric =
  /**
   * Attempts: one for each that delivered, zero for each that did not, so that all of them are its samples. Of smoke tests only those
   * that did not; no tests and no resends, since their owner may fail as often as they like.
   */
  | 'Delivered'
  /** Attempts by what else came of them; `Blocked` are those that the URL policy or the SSRF guard refused. */
  | 'Blocked'
  /** Attempts that failed for a fault of our own, and messages that go back to their queue because a store or a queue failed. */
  | 'InternalError'
  /** Events that are dropped because their account has no webhook for them. */
  | 'EventWithoutWebhook'
  /** Refused events of which publishers could not be notified. */
  | 'NoticeNotSent';

/** The log and the counts of the units of delivery. */
export interface DeliveryTelemetry {
  readonly log: Log;
  readonly count: Count;
}

/** The log of the sweeper, and its one metric. */
export interface SweepTelemetry {
  readonly log: Log;
  /**
   * Each sweep that succeeds writes `OldestDue`: by how many milliseconds the oldest pending delivery is overdue, 0 if
   * none is.
   */
  readonly measure: (metric: 'OldestDue', milliseconds: number) => void;
}

/**
 * Returns false for smoke tests: CloudWatch bills each metric-hour, and they run in every hour. Their failures are counted as all others
 * are, because alarms depend on these metrics.
 */
export function countsSuccess({ accountId }: Pick<Delivery, 'accountId'>): boolean {
  return !isReservedAccount(accountId);
}

/** Returns the fields of a delivery that a log line may show: never its body, its webhook's URL or a receiver's answer. */
export function describeDelivery({ id, messageId, accountId, eventName, attempt }: Delivery) {
  return {
    deliveryId: id,
    messageId,
    account: accountId,
    event: eventName,
    attempt,
  };
}

/** Returns the fields of an attempt that a log line may show. */
export function describeAttempt({ result, cause, status, durationMs }: AttemptRecord) {
  return { result, cause, status, durationMs };
}

/** Counts one more, or this many more. */
type Count = (metric: DeliveryMetric, by?: number) => void;
