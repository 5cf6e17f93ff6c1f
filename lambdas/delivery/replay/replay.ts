import type { EventName } from '../../webhooks/webhook.ts';
import { type Delivery, isTest } from '../delivery.ts';

/**
 * A replay resends the deliveries of a range, newest first, about ten a second: each starts a new schedule. It reads the range twice,
 * because the index `undelivered` lags. Times in milliseconds since the epoch.
 */
export interface Replay extends ReplayRange {
  /** `reenvio_…` */
  readonly id: string;
  readonly accountId: string;
  readonly eventName: EventName;
  /** The registration for which it was requested; the replay ends with it. */
  readonly webhookId: string;
  readonly state: ReplayState;
  /** Deliveries that reach their state later are not sent: none is sent twice, and the range cannot grow. */
  readonly startedAt: number;
  /**
   * The number of deliveries resent so far. It may be a little too low: a process that dies does not count its page, and of two
   * concurrent processes only one counts.
   */
  readonly sent: number;
  /** The second pass starts when the index shows its state at the start of the replay. */
  readonly pass: 1 | 2;
  /** The position of the pass, a range key of index `undelivered`. Not set at the start. */
  readonly cursor?: string;
  /** The moment when its state became final. */
  readonly endedAt?: number;
}

/** Returns the id of a replay. `unique` is random. */
export function replayIdOf(unique: string): string {
  return `${replayPrefix}${unique}`;
}

/** The form of the id of a replay. */
export const replayIdForm = /^reenvio_[A-Za-z0-9]{22}$/;

/** Returns whether the replay sends a delivery: it omits tests and deliveries of other registrations. */
export function isSelectedBy(replay: Replay, delivery: Delivery): boolean {
  return (
    delivery.webhookId === replay.webhookId &&
    delivery.state === replay.wanted &&
    delivery.createdAt >= replay.from &&
    delivery.createdAt < replay.to &&
    (delivery.settledAt ?? Number.POSITIVE_INFINITY) < replay.startedAt &&
    !isTest(delivery)
  );
}

/** The deliveries of a replay: those in a state, by the time at which their events were accepted; `to` is excluded. */
export interface ReplayRange {
  readonly from: number;
  readonly to: number;
  readonly wanted: 'failed' | 'held';
}

/** The states of a replay; the last two are final. */
type ReplayState = 'running' | 'completed' | 'cancelled';

const replayPrefix = 'reenvio_';
