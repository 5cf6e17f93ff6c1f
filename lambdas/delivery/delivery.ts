import type { FailureCause } from '../platform/egress/network-error.ts';
import type { ErrorDescription } from '../platform/telemetry.ts';
import type { EventName } from '../webhooks/webhook.ts';

/** The state of a delivery. A `pending` delivery waits for its next attempt. The other states are final until a resend or a replay. */
export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'held' | 'cancelled';

/** The result of an attempt in its record and in the history. */
export type AttemptResult =
  | 'delivered'
  | 'http'
  | 'timeout'
  | 'connection'
  | 'tls'
  | 'dns'
  | 'blocked'
  | 'slow'
  | 'internal';

export interface AttemptRecord {
  /** The attempt number, which starts at 1 and increases across all schedules of the delivery. */
  readonly number: number;
  /** The start time (RFC 3339, UTC). */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly result: AttemptResult;
  /** The cause of a failure, if known. */
  readonly cause: FailureCause | null;
  /** The status code of the response, or `null` if there was no response. */
  readonly status: number | null;
  /** The first KiB of the response body. The `Authorization` value from the request is masked. */
  readonly response: string | null;
  /** The id of the separate item that contains the response, if any. `response` is null until that item is read. */
  readonly responseId?: string;
}

/**
 * The outcome of one attempt:
 * - `delivered`: All headers of a 2xx response arrived. The body does not matter.
 * - `gone`: The receiver returned 410 to reject further events.
 * - `failed`: The receiver returned another response, the network failed, or the URL policy or SSRF guard blocked the attempt.
 * - `given_up`: The receiver did not respond in time in a busy fast lane. The attempt is repeated in the slow lane.
 * - `internal_error`: The service's own keys, sockets or network failed.
 *
 * Only `failed` attempts are charged. Only the log uses `errorCode` and `fault`.
 */
export type AttemptOutcome = { readonly record: AttemptRecord; readonly errorCode?: string } & (
  | { readonly outcome: 'delivered' | 'gone' | 'given_up' }
  | { readonly outcome: 'failed'; readonly retryAfterMs: number | undefined }
  | { readonly outcome: 'internal_error'; readonly fault?: ErrorDescription }
);

/** The times of a pending delivery, in milliseconds since the epoch. */
export interface Wait {
  readonly nextAttemptAt: number;
  /** The time at which the sweeper checks the delivery, unless the next attempt is recorded first. */
  readonly sweepAt: number;
  /** The time at which a sweeper's claim on the delivery expires. After that, a sweeper resends a lost message. */
  readonly claimedUntil?: number;
  /** The number of sweeps that found this attempt overdue. The wait for a resend doubles each time, so a backlog does not multiply. */
  readonly overdueCount: number;
}

/** The delivery of one event to its registered webhook. Times are in milliseconds since the epoch. */
export interface Delivery {
  readonly id: string;
  readonly accountId: string;
  readonly eventName: EventName;
  /** The registration to which the event belongs. A later registration for the same event name never receives the event. */
  readonly webhookId: string;
  /** The request body. */
  readonly body: string;
  readonly state: DeliveryState;
  /** The id of the publisher's SQS message, for the log. Not set for a test. */
  readonly messageId?: string;
  /** The time at which the queue accepted the event. */
  readonly createdAt: number;
  /** The start of the current schedule. It is the time of acceptance, or of the latest resend, replay or redrive. */
  readonly scheduledAt: number;
  /** The number of the next attempt. Every attempt increases it, charged or not, so a message with a lower number is stale. */
  readonly attempt: number;
  /** The number of failed attempts that are charged against the current schedule. */
  readonly charged: number;
  /** The number of consecutive internal errors. Each error doubles the wait and is not charged. */
  readonly internalErrors: number;
  /** The latest attempts, oldest first. `maxStoredAttempts` limits their number. */
  readonly attempts: readonly AttemptRecord[];
  /** Set while the state is `pending`. */
  readonly wait?: Wait;
  /** The time at which the delivery reached its final state. Not set while the state is `pending`. */
  readonly settledAt?: number;
  /** Set while a resend expedites the next attempt. An expedited attempt is not charged. */
  readonly expedited?: Expedited;
  /** The number of stored changes. Only the store sets it, so concurrent changes cannot overwrite each other. */
  readonly version?: number;
}

export type WaitingDelivery = Delivery & { readonly wait: Wait };

/** Returns the id of a test delivery. `unique` is random. */
export function testIdOf(unique: string): string {
  return `${testPrefix}${unique}`;
}

/**
 * Returns whether a delivery is a test. A test sends a sample event once, even if its webhook is suspended (except by an operator), and does
 * not affect the webhook's health.
 */
export function isTest({ id }: Pick<Delivery, 'id'>): boolean {
  return id.startsWith(testPrefix);
}

/** Returns whether the next attempt was requested by a resend, a replay or a redrive. */
export function isResent({ createdAt, scheduledAt, expedited }: Delivery): boolean {
  return scheduledAt !== createdAt || expedited !== undefined;
}

/** The form of the delivery ids of events and tests. */
export const deliveryIdForm = /^(?:evt_[A-Za-z0-9_-]{27}|teste_[A-Za-z0-9]{22})$/;

export function isDeliveryId(text: string): boolean {
  return deliveryIdForm.test(text);
}

/** The maximum number of attempts stored with a delivery. It limits the size of the item. */
export const maxStoredAttempts = 30;

export type NewDelivery = Pick<
  Delivery,
  'id' | 'accountId' | 'eventName' | 'webhookId' | 'body' | 'createdAt' | 'messageId'
>;

/** Creates a delivery before its first attempt. The delivery is stored with the outcome of that attempt. */
export function newDelivery(origin: NewDelivery): Delivery {
  return {
    ...origin,
    state: 'pending',
    scheduledAt: origin.createdAt,
    attempt: 1,
    charged: 0,
    internalErrors: 0,
    attempts: [],
  };
}

/** Returns the delivery in a final state. A resend or a replay may start a new schedule. */
export function settled(delivery: Delivery, state: Exclude<DeliveryState, 'pending'>, at: number): Delivery {
  const { wait: _, expedited: __, ...rest } = delivery;
  return { ...rest, state, settledAt: at };
}

/** An attempt that a resend expedited. Times are in milliseconds since the epoch. */
interface Expedited {
  /** The time of the resend. The attempt's message contains it, and a message without this time is stale. */
  readonly at: number;
  /** The original due time of the attempt. If the expedited attempt does not succeed, the next attempt is due at this time. */
  readonly originalDueAt: number;
}

const testPrefix = 'teste_';
