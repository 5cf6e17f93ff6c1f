import type { EventName } from '../../webhooks/webhook.ts';
import { type Delivery, isTest } from '../delivery.ts';

/**
 * A replay resends the deliveries of a time range, newest first, about ten per second. Each delivery starts a new schedule. The replay reads
 * the range twice, because the `undelivered` index lags. Times are in milliseconds since the epoch.
 */
export interface Replay extends ReplayRange {
  /** `reenvio_…` */
  readonly id: string;
  readonly accountId: string;
  readonly eventName: EventName;
  /** The registration for which the replay was requested. The replay ends when the registration ends. */
  readonly webhookId: string;
  readonly state: ReplayState;
  /** The start time. The replay omits deliveries that reach their state later, so it sends no delivery twice and the range cannot grow. */
  readonly startedAt: number;
  /** The number of deliveries resent so far. It may be slightly too low after a crash or a concurrent run. */
  readonly sent: number;
  /** The current pass. The second pass starts once the index includes all changes before the start of the replay. */
  readonly pass: 1 | 2;
  /** The position of the pass, which is a sort key of the `undelivered` index. Not set at the start of a pass. */
  readonly cursor?: string;
  /** The time at which the state became final. */
  readonly endedAt?: number;
}

/** Returns the id of a replay. `unique` is random. */
export function replayIdOf(unique: string): string {
  return `${replayPrefix}${unique}`;
}

/** The form of replay ids. */
export const replayIdForm = /^reenvio_[A-Za-z0-9]{22}$/;

/** Returns whether the replay resends a delivery. A replay omits tests and deliveries of other registrations. */
export function isSelectedBy(replay: Replay, delivery: Delivery): boolean {
  return (
    delivery.webhookId === replay.webhookId &&
    delivery.state === replay.sourceState &&
    delivery.createdAt >= replay.from &&
    delivery.createdAt < replay.to &&
    (delivery.settledAt ?? Number.POSITIVE_INFINITY) < replay.startedAt &&
    !isTest(delivery)
  );
}

/** Selects deliveries in `sourceState` whose events were accepted from `from` up to, but excluding, `to`. */
export interface ReplayRange {
  readonly from: number;
  readonly to: number;
  readonly sourceState: 'failed' | 'held';
}

/** The state of a replay. The last two states are final. */
type ReplayState = 'running' | 'completed' | 'cancelled';

const replayPrefix = 'reenvio_';
