import { isReservedAccount } from '../auth/principals/account.ts';
import { type Log, makeTelemetry, type Telemetry } from '../platform/telemetry.ts';
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
  /** Deliveries by how they ended without being delivered. */
  | 'Exhausted'
  | 'Held'
  | 'Cancelled'
  /** Messages that no attempt was made for. */
  | 'EventWithoutWebhook'
  | 'DuplicateDropped'
  /** Copies of an event's id that tell something else: a publisher uses an id twice, and the second event is lost. */
  | 'ConflictingCopyDropped'
  | 'StaleDropped'
  | 'DeadLettered'
  /** Refused events that their publishers could not be told of. */
  | 'RefusalNotTold'
  /** Messages that stay in their queue for a moment, because the process has reached its limit for their webhook, or its time is over. */
  | 'MessageShed'
  /** Messages of the retry queue or the slow queue that could not be sent: the sweeper sends them. */
  | 'AttemptNotSent'
  | 'WebhookSuspended'
  /** Deliveries that the sweeper sent: at the end of a long wait, or because they were overdue. */
  | 'SweptDue'
  | 'SweptOverdue';

/** The log and the counts of the units of delivery. */
export interface DeliveryTelemetry {
  readonly log: Log;
  readonly count: Count;
}

/** The log and the metrics of the sweeper. */
export interface SweepTelemetry extends DeliveryTelemetry {
  /**
   * Each sweep that succeeds writes `OldestDue`: by how many milliseconds the oldest pending delivery is overdue, 0 if
   * none is.
   */
  readonly measure: (metric: 'OldestDue', milliseconds: number) => void;
}

/**
 * Makes the log and the metrics of a delivery function; the middleware of its handler flushes both. The consumers of all lanes are
 * counted together, as `delivery`: the log tells the lane.
 */
export function makeDeliveryTelemetry<Service extends string>(
  serviceName: Service,
  countedAs: string = serviceName,
): Telemetry & SweepTelemetry & { readonly service: Service } {
  return makeTelemetry(serviceName, countedAs);
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
