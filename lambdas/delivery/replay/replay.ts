import type { EventName } from '../../webhooks/webhook.ts';
import { type Delivery, isTest } from '../delivery.ts';
import { replaySlotInterval } from '../limits.ts';

/**
 * A replay sends the deliveries of a range again, newest first, ten a second: each begins a new schedule in a slot of its own.
 * They are counted first, then sent. Times in milliseconds since the epoch; cursors are range keys of index `undelivered`.
 */
export interface Replay extends ReplayRange {
  /** `reenvio_…` */
  readonly id: string;
  readonly accountId: string;
  readonly eventName: EventName;
  /** The registration that it was requested for; it ends with that. */
  readonly webhookId: string;
  readonly state: ReplayState;
  /**
   * When it begins: soon after another was cancelled it waits for what that one had sent. Deliveries that reached their state later are
   * not sent: nothing is sent twice, and the range cannot grow.
   */
  readonly startedAt: number;
  /** Deliveries of this registration counted so far. */
  readonly total: number;
  /** The point that counting has reached; `null` when all are counted. */
  readonly countCursor: string | null;
  /** Deliveries handed to the retry queue so far; see `progressAt`. */
  readonly sent: number;
  /** The slot of the last of them. */
  readonly lastSlotAt: number;
  /** The point that sending has reached. */
  readonly sendCursor: string;
  /**
   * Deliveries before `sendCursor` that are being sent and not yet saved as sent. Their process may have died; those that it
   * did send have moved in the index.
   */
  readonly inFlight: readonly string[];
  /** The first free slot. Slots are reserved before they are used; reserved slots that are not used are lost. */
  readonly nextSlotAt: number;
  /** The moment when deliveries were last counted or sent, by which lateness is measured. */
  readonly servedAt?: number;
  /** A fencing token: it grows with each claim, and what an earlier claimant saves is refused. */
  readonly claim: number;
  /** The moment when the sweeper may claim it. */
  readonly lookAt: number;
  /** The moment when its state became final. */
  readonly endedAt?: number;
  /** Set when the replay has ended and was deleted: it is not shown any more. */
  readonly isHidden?: boolean;
}

/** Returns the id of a replay. `unique` is random. */
export function replayIdOf(unique: string): string {
  return `${replayPrefix}${unique}`;
}

/** The form of the id of a replay. */
export const replayIdForm = /^reenvio_[A-Za-z0-9]{22}$/;

/** The part of a replay that is kept when the next one of its webhook begins. */
export type PastReplay = Pick<
  Replay,
  'id' | 'wanted' | 'state' | 'total' | 'sent' | 'countCursor' | 'endedAt' | 'isHidden'
>;

/**
 * The progress of a replay as clients see it. The queue holds deliveries until their slots: a delivery before its slot is not
 * sent yet, a replay with such deliveries is still running, and cancelling the replay withdraws them.
 */
export function progressAt(replay: Replay, now: number): Pick<Replay, 'state' | 'sent'> {
  const moment = replay.state === 'cancelled' ? (replay.endedAt ?? now) : now;
  const waiting = Math.max(0, Math.ceil((replay.lastSlotAt - moment) / replaySlotInterval));
  const isRunning = replay.state === 'running' || (replay.state === 'completed' && waiting > 0);
  return { state: isRunning ? 'running' : replay.state, sent: Math.max(0, replay.sent - waiting) };
}

/** A process this late for a slot was frozen: it leaves the rest of its slots unused. Milliseconds. */
export const maxSlotLateness = 1_000;

/** Returns whether a replay was cancelled before a delivery's slot. */
export function wasCancelledBefore({ state, endedAt }: PastReplay, slot: number): boolean {
  return state === 'cancelled' && endedAt !== undefined && endedAt < slot;
}

/** Returns whether a replay has already sent a delivery. */
export function wasSentBy(replay: Replay, { replayId }: Delivery): boolean {
  return replayId === replay.id;
}

/**
 * Returns the slot of a delivery in its replay, until its first attempt. Milliseconds since the epoch. A resend takes a delivery out
 * of its replay, but the outcome of an attempt that was in flight then puts `replayId` back: therefore any attempt ends the slot. A
 * failure counts in `charged` or `internalErrors`; an attempt that was given up is in the history alone.
 */
export function slotOf(delivery: Delivery): number | undefined {
  const { replaySlotAt, charged, internalErrors, scheduledAt, attempts } = delivery;
  const latest = attempts.at(-1);
  const wasGivenUp = latest !== undefined && Date.parse(latest.startedAt) >= scheduledAt;
  const isAttempted = charged > 0 || internalErrors > 0 || wasGivenUp;
  return isAttempted ? undefined : replaySlotAt;
}

/** Returns whether the replay sends a delivery: tests and deliveries of other registrations are left out. */
export function isSelectedBy(replay: Replay, delivery: Delivery): boolean {
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

/** The deliveries of a replay: those in a state, by the time at which their events were accepted; `to` is excluded. */
export interface ReplayRange {
  readonly from: number;
  readonly to: number;
  readonly wanted: 'failed' | 'held';
}

/** The states of a replay; the last two are final. */
type ReplayState = 'running' | 'completed' | 'cancelled';

const replayPrefix = 'reenvio_';
