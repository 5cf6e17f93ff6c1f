import type { EventName } from '../../webhooks/webhook.ts';
import { type Delivery, isTest } from '../delivery.ts';

/** Ten deliveries a second: one every so many milliseconds. */
export const pace = 100;

/**
 * A replay: the deliveries of a range begin new schedules, ten a second, newest first. First they are counted, then sent.
 * Times in milliseconds since the epoch; places are range keys of index `undelivered`.
 */
export interface Replay extends ReplayRange {
  /** `reenvio_…` */
  readonly id: string;
  readonly accountId: string;
  readonly eventName: EventName;
  /** The registration it was asked for: it ends with that. */
  readonly webhookId: string;
  readonly state: ReplayState;
  /** What reached its state later than this is not sent: nothing is sent twice, and the range cannot grow. */
  readonly startedAt: number;
  /** Deliveries of this registration counted so far. */
  readonly total: number;
  /** The place that counting has come to; `null` when all are counted. */
  readonly countedTo: string | null;
  /** Deliveries handed to the retry queue so far; see `progressAt`. */
  readonly sent: number;
  /** When the last of them has its turn. */
  readonly lastTurnAt: number;
  /** The place that sending has come to. */
  readonly sentTo: string;
  /**
   * The deliveries before that place that were taken in hand and are not saved as sent: whoever was to send them may have
   * died, and those that left are in the index at another place by now.
   */
  readonly inHand: readonly string[];
  /** The turns before this are given out: whoever sends reserves its turns first, and what it does not use is lost. */
  readonly paceAt: number;
  /** Grows each time somebody takes the replay in hand: whoever did so before is then out. */
  readonly claim: number;
  /** When the sweeper takes it in hand. */
  readonly lookAt: number;
  /** When its state became final. */
  readonly endedAt?: number;
  /** It has ended and is not shown any more. What it did still holds. */
  readonly isForgotten?: boolean;
}

/** The id of a replay. `unique` is random. */
export function replayIdOf(unique: string): string {
  return `${replayPrefix}${unique}`;
}

/** Whether a text can be the id of a replay. */
export function isReplayId(text: string): boolean {
  return /^reenvio_[A-Za-z0-9]{22}$/.test(text);
}

/** What remains of a replay when the next one of its webhook has begun. */
export type PastReplay = Pick<
  Replay,
  'id' | 'wanted' | 'state' | 'total' | 'sent' | 'countedTo' | 'endedAt' | 'isForgotten'
>;

/**
 * How far a replay is for those who watch it. The queue holds deliveries until their turns: one whose turn has not come
 * is not sent yet, a replay with such is still under way, and when it is cancelled they stay behind.
 */
export function progressAt(replay: Replay, now: number): Pick<Replay, 'state' | 'sent'> {
  const moment = replay.state === 'cancelled' ? (replay.endedAt ?? now) : now;
  const waiting = Math.max(0, Math.ceil((replay.lastTurnAt - moment) / pace));
  const isUnderWay = replay.state === 'running' || (replay.state === 'completed' && waiting > 0);
  return { state: isUnderWay ? 'running' : replay.state, sent: Math.max(0, replay.sent - waiting) };
}

/** Whether a replay was cancelled before a delivery's turn came. */
export function wasCancelledBefore({ state, endedAt }: PastReplay, turn: number): boolean {
  return state === 'cancelled' && endedAt !== undefined && endedAt < turn;
}

/** Whether a replay has sent a delivery already. */
export function wasSentBy(replay: Replay, { replayId }: Delivery): boolean {
  return replayId === replay.id;
}

/** The turn that a replay gave a delivery, for as long as nothing came of it. Milliseconds since the epoch. */
export function turnOf({ replayId, charged, internalErrors, wait }: Delivery): number | undefined {
  return replayId !== undefined && charged === 0 && internalErrors === 0 ? wait?.nextAttemptAt : undefined;
}

/** Whether a delivery is one that the replay is to send: tests and what was for another registration are left out. */
export function isWantedBy(replay: Replay, delivery: Delivery): boolean {
  return (
    delivery.webhookId === replay.webhookId &&
    delivery.state === replay.wanted &&
    delivery.createdAt >= replay.from &&
    delivery.createdAt < replay.to &&
    (delivery.settledAt ?? Number.POSITIVE_INFINITY) < replay.startedAt &&
    !wasSentBy(replay, delivery) &&
    !isTest(delivery)
  );
}

/** What is asked for: deliveries in a state, by when their events were accepted. Milliseconds; `to` is not part of it. */
interface ReplayRange {
  readonly from: number;
  readonly to: number;
  readonly wanted: 'failed' | 'held';
}

/** The states of a replay; the last two are final. */
type ReplayState = 'running' | 'completed' | 'cancelled';

const replayPrefix = 'reenvio_';
