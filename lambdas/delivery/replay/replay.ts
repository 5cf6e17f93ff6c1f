import type { EventName } from '../../webhooks/webhook.ts';
import { type Delivery, isTest } from '../delivery.ts';

/**
 * A replay resends the deliveries of a range, newest first, about ten a second. Each delivery starts a new schedule. The replay reads the
 * range twice, because the index `undelivered` lags. Times are in milliseconds since the epoch.
 */
export interface Replay extends ReplayRange {
  /** `reenvio_…` */
  readonly id: string;
  readonly accountId: string;
  readonly eventName: EventName;
  /** The registration for which it was requested. The replay ends when that registration ends. */
  readonly webhookId: string;
  readonly state: ReplayState;
  /** Deliveries that reach their state later are not sent, so that no delivery is sent twice and the range cannot grow. */
  readonly startedAt: number;
  /**
   * The number of deliveries resent so far. It may be slightly too low. A process that dies does not count its page, and if two processes
   * run the replay at once, only one of them counts.
   */
  readonly sent: number;
  /** The second pass starts once the index shows its state at the start of the replay. */
  readonly pass: 1 | 2;
  /** The position of the pass, which is a range key of index `undelivered`. It is not set at the start. */
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

/** Returns whether the replay sends a delivery. It omits tests and deliveries of other registrations. */
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

/** The deliveries of a replay. They are in a state, and their events were accepted from `from` up to, but excluding, `to`. */
export interface ReplayRange {
  readonly from: number;
  readonly to: number;
  readonly wanted: 'failed' | 'held';
}

/** The states of a replay. The last two are final. */
type ReplayState = 'running' | 'completed' | 'cancelled';

const replayPrefix = 'reenvio_';
