import type { FailureCause } from '../platform/egress/network-error.ts';
import type { ErrorDescription } from '../platform/telemetry.ts';
import type { EventName } from '../webhooks/webhook.ts';

/** The states of a delivery. `pending` waits for its next attempt. The others are settled, but a resend or replay may reopen them. */
export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'held' | 'cancelled';

/** The results of an attempt, as its record and the history show them. */
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

/** One attempt, in the form that is stored and that the history shows. */
export interface AttemptRecord {
  /** Starts at 1 and increases with each attempt of the delivery, across all schedules. */
  readonly number: number;
  /** RFC 3339, UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly result: AttemptResult;
  /** The cause of a failure, if it is known. */
  readonly cause: FailureCause | null;
  /** The response's status code, if there was a response. */
  readonly status: number | null;
  /** The first KiB of the response's body. The `Authorization` value that we sent is masked. */
  readonly response: string | null;
  /** The id of the response's own item, if it has one. `response` is null until that item is read. */
  readonly answerId?: string;
}

/**
 * The outcome of one attempt:
 * - `delivered`: complete 2xx headers, regardless of the body;
 * - `gone`: 410, by which the receiver rejects further events;
 * - `failed`: any other response, a network failure, or an attempt that the URL policy or the SSRF guard blocked; charged;
 * - `given_up`: no response in time in a busy fast lane; repeated in the slow lane, not charged;
 * - `internal_error`: a failure of our own keys, sockets or network; not charged.
 *
 * `errorCode` and `fault` are for the log only.
 */
export type AttemptOutcome = { readonly record: AttemptRecord; readonly errorCode?: string } & (
  | { readonly outcome: 'delivered' | 'gone' | 'given_up' }
  | { readonly outcome: 'failed'; readonly retryAfterMs: number | undefined }
  | { readonly outcome: 'internal_error'; readonly fault?: ErrorDescription }
);

/** The times of a pending delivery, in milliseconds since the epoch. */
export interface Wait {
  readonly nextAttemptAt: number;
  /** The moment when the sweeper checks the delivery, unless its next attempt is recorded by then. */
  readonly sweepAt: number;
  /** Set when the sweeper sends the message of a long wait, until its next check. So one sweeper sends, and a lost message is resent. */
  readonly claimedUntil?: number;
  /** The number of sweeps that found this attempt overdue. The wait doubles each time, so that a backlog does not multiply. */
  readonly overdueCount: number;
}

/** The delivery of one event to the webhook that was registered for it. Times are in milliseconds since the epoch. */
export interface Delivery {
  readonly id: string;
  readonly accountId: string;
  readonly eventName: EventName;
  /** The registration that the event belongs to. A later registration for the same event name never receives the event. */
  readonly webhookId: string;
  /** The request body. */
  readonly body: string;
  readonly state: DeliveryState;
  /** The id of the publisher's message, which log lines contain. Tests have no such id. */
  readonly messageId?: string;
  /** The moment when the event was accepted on the queue. */
  readonly createdAt: number;
  /** The moment when the current schedule started: acceptance, or the latest resend, replay or redrive. */
  readonly scheduledAt: number;
  /** The number of the next attempt. It increases with every attempt, charged or not, so a message with a lower number is stale. */
  readonly attempt: number;
  /** The failed attempts that are charged against the present schedule. */
  readonly charged: number;
  /** The consecutive internal errors. Each doubles the wait and is not charged. */
  readonly internalErrors: number;
  /** The latest attempts, oldest first. `keptAttempts` limits their number. */
  readonly attempts: readonly AttemptRecord[];
  /** Set while `pending`. */
  readonly wait?: Wait;
  /** The moment when the delivery reached its state. It is not set while `pending`. */
  readonly settledAt?: number;
  /** Set while a resend expedites the next attempt, which is therefore not charged. */
  readonly expedited?: Expedited;
  /** Increases with each stored change, so that a resend, a sweep and a deferral do not undo each other. Only the store sets it. */
  readonly version?: number;
}

/** A pending delivery. */
export type WaitingDelivery = Delivery & { readonly wait: Wait };

/** Returns the id of a test's delivery. `unique` is random. */
export function testIdOf(unique: string): string {
  return `${testPrefix}${unique}`;
}

/**
 * Returns whether a delivery is a test. A test is a sample event that is attempted once, even if its webhook is suspended, and does not
 * affect the webhook's health.
 */
export function isTest({ id }: Pick<Delivery, 'id'>): boolean {
  return id.startsWith(testPrefix);
}

/** Returns whether the next attempt was requested by a resend, a replay or a redrive. */
export function isResent({ createdAt, scheduledAt, expedited }: Delivery): boolean {
  return scheduledAt !== createdAt || expedited !== undefined;
}

/** The form of the id of an event's or a test's delivery. */
export const deliveryIdForm = /^(?:evt_[A-Za-z0-9_-]{27}|teste_[A-Za-z0-9]{22})$/;

export function isDeliveryId(text: string): boolean {
  return deliveryIdForm.test(text);
}

/** The maximum number of latest attempts that are stored with a delivery. It bounds the size of the item. */
export const keptAttempts = 30;

export type NewDelivery = Pick<
  Delivery,
  'id' | 'accountId' | 'eventName' | 'webhookId' | 'body' | 'createdAt' | 'messageId'
>;

/** Creates a delivery before its first attempt. The outcome of that attempt stores it. */
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

/** Returns a delivery that has ended in a state. A resend or a replay may start a new schedule. */
export function settled(delivery: Delivery, state: Exclude<DeliveryState, 'pending'>, at: number): Delivery {
  const { wait: _, expedited: __, ...rest } = delivery;
  return { ...rest, state, settledAt: at };
}

/** An attempt that a resend expedited. Times are in milliseconds since the epoch. */
interface Expedited {
  /** The moment of the resend. The attempt's message contains it. A message without it is older and stale. */
  readonly at: number;
  /** The original due time of the attempt. Unless the attempt succeeds, the next one is due at this time. */
  readonly originalDueAt: number;
}

const testPrefix = 'teste_';
