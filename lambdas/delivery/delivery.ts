import type { FailureCause } from '../platform/egress/network-error.ts';
import type { ErrorDescription } from '../platform/telemetry.ts';
import type { EventName } from '../webhooks/webhook.ts';

/**
 * The states of a delivery. `pending` waits for its next attempt. The others are settled; a resend or replay may reopen them.
 */
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

/** One attempt, as it is stored and as the history shows it. */
export interface AttemptRecord {
  /** From 1, growing over the delivery's whole life. */
  readonly number: number;
  /** RFC 3339, UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly result: AttemptResult;
  /** The cause of a failure, if more is known than its result. */
  readonly cause: FailureCause | null;
  /** The response's status code, if there was a response. */
  readonly status: number | null;
  /** The first KiB of the response's body, with what we sent in `Authorization` masked. */
  readonly response: string | null;
  /** Names the answer's own item, if it has one; `response` is null until that is read. */
  readonly answerId?: string;
}

/**
 * The outcome of one attempt:
 * - `delivered`: complete 2xx headers, whatever the body then did;
 * - `gone`: 410, the receiver wants no more;
 * - `failed`: anything else a receiver or its network did, and what the URL policy or the SSRF guard blocks; charged;
 * - `given_up`: not answered in time in a fast lane that is busy; repeated in the slow one, not charged;
 * - `internal_error`: our own keys, sockets or network; not charged.
 *
 * `errorCode` and `fault` are for the log only.
 */
export type AttemptOutcome = { readonly record: AttemptRecord; readonly errorCode?: string } & (
  | { readonly outcome: 'delivered' | 'gone' | 'given_up' }
  | { readonly outcome: 'failed'; readonly retryAfterMs: number | undefined }
  | { readonly outcome: 'internal_error'; readonly fault?: ErrorDescription }
);

/** The moment when a pending delivery goes on. Milliseconds since the epoch. */
export interface Wait {
  readonly nextAttemptAt: number;
  /** The moment when the sweeper looks at the delivery, unless its next attempt was recorded by then. */
  readonly sweepAt: number;
  /** The sweeper has sent the message of a long wait, and looks again then: of two sweepers one sends, and a lost message is found. */
  readonly claimedUntil?: number;
  /** How often the sweeper found this attempt overdue: it waits twice as long each time, so that a backlog is not multiplied. */
  readonly overdueCount: number;
}

/** The life of one event at the webhook that was registered for it. Times in milliseconds since the epoch. */
export interface Delivery {
  readonly id: string;
  readonly accountId: string;
  readonly eventName: EventName;
  /** The registration the event belongs to: another one of the same name never gets it. */
  readonly webhookId: string;
  /** The request body. */
  readonly body: string;
  readonly state: DeliveryState;
  /** The id of the publisher's message, by which log lines find it; tests have none. */
  readonly messageId?: string;
  /** The moment when the event was accepted on the queue. */
  readonly createdAt: number;
  /** The moment when the present schedule began: acceptance, or the latest resend, replay or redrive. */
  readonly scheduledAt: number;
  /**
   * The number of the next attempt. It grows with every attempt, charged or not, and so distinguishes a stale message from the one
   * that is due.
   */
  readonly attempt: number;
  /** Failed attempts charged against the present schedule. */
  readonly charged: number;
  /** Internal errors in a row: each doubles the wait, and none is charged. */
  readonly internalErrors: number;
  /** The latest attempts, oldest first; see `keptAttempts`. */
  readonly attempts: readonly AttemptRecord[];
  /** Set while `pending`. */
  readonly wait?: Wait;
  /** The moment when the delivery reached its state; not set while `pending`. */
  readonly settledAt?: number;
  /** Set while a resend has brought the next attempt forward: that is not charged. */
  readonly expedited?: Expedited;
  /** Grows with each stored change, so that a resend, a sweep and a deferral do not undo each other. Only the store sets it. */
  readonly version?: number;
}

/** A pending delivery. */
export type WaitingDelivery = Delivery & { readonly wait: Wait };

/** Returns the id of a test's delivery. `unique` is random. */
export function testIdOf(unique: string): string {
  return `${testPrefix}${unique}`;
}

/**
 * Returns whether a delivery is a test: a sample event that gets one attempt, also while its webhook is suspended, and says
 * nothing about the webhook's health.
 */
export function isTest({ id }: Pick<Delivery, 'id'>): boolean {
  return id.startsWith(testPrefix);
}

/** Returns whether its next attempt was asked for: by a resend, a replay or a redrive. */
export function isResent({ createdAt, scheduledAt, expedited }: Delivery): boolean {
  return scheduledAt !== createdAt || expedited !== undefined;
}

/** The form of the id of a delivery: of an event's, or of a test's. */
export const deliveryIdForm = /^(?:evt_[A-Za-z0-9_-]{27}|teste_[A-Za-z0-9]{22})$/;

export function isDeliveryId(text: string): boolean {
  return deliveryIdForm.test(text);
}

/** A delivery keeps its latest attempts only, lest its item outgrows what the store takes. */
export const keptAttempts = 30;

export type NewDelivery = Pick<
  Delivery,
  'id' | 'accountId' | 'eventName' | 'webhookId' | 'body' | 'createdAt' | 'messageId'
>;

/** Creates a delivery before its first attempt. It is not stored yet: the first attempt's outcome stores it. */
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

/** Returns a delivery that has ended in a state. A resend or a replay may begin a new schedule. */
export function settled(delivery: Delivery, state: Exclude<DeliveryState, 'pending'>, at: number): Delivery {
  const { wait: _, expedited: __, ...rest } = delivery;
  return { ...rest, state, settledAt: at };
}

/** An attempt that a resend made due before its time. Milliseconds since the epoch. */
interface Expedited {
  /** The moment when that was. The attempt's message names it: one that does not was sent before, and is stale. */
  readonly at: number;
  /** The moment when the attempt was due before; unless it succeeds, the next one is due then. */
  readonly originalDueAt: number;
}

const testPrefix = 'teste_';
