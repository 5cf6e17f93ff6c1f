import type { Clock } from '../platform/clock.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import { backoffWait, internalErrorWait, type Random } from './backoff.ts';
import {
  type AttemptOutcome,
  type AttemptRecord,
  type Delivery,
  isTest,
  keptAttempts,
  type Mover,
  settled,
  type Wait,
  type WaitingDelivery,
} from './delivery.ts';
import { maxAge, maxQueueDelay, overdueAfter, sentBeforeDue, slowQueueOverdue, slowQueueRepeat } from './limits.ts';

/*
 * The transitions of a delivery from one state to the next. Everything here is pure; times and waits are in milliseconds.
 */

/** Returns the delivery as it is after an attempt. */
export type ApplyOutcome = (delivery: Delivery, outcome: AttemptOutcome) => Delivery;

/**
 * Returns the function that applies the outcome of an attempt to its delivery:
 * - `delivered` and `gone` (410) end it;
 * - `failed` is charged: the next attempt comes after the backoff of the retry schedule. After the schedule's last wait there
 *   is none;
 * - `given_up` is repeated at once in the slow lane, not charged;
 * - `internal_error` is repeated with a backoff of its own, not charged, for up to ten days.
 *
 * A test gets one attempt. An attempt that a resend brought forward is not charged. If it does not succeed, the old due time
 * stays, and the place in the table that comes of it.
 */
export function makeApplyOutcome({
  schedule,
  now,
  random,
}: {
  /** The waits between attempts. */
  readonly schedule: readonly number[];
  readonly now: Clock;
  readonly random: Random;
}): ApplyOutcome {
  return function applyOutcome(delivery, outcome) {
    const moment = now();
    const { broughtForward, ...rest } = delivery;
    const attempted: Delivery = {
      ...rest,
      attempt: delivery.attempt + 1,
      internalErrors: 0,
      attempts: withRecord(delivery.attempts, outcome.record),
    };
    const originalWait = broughtForward && {
      ...waitOf(Math.max(0, broughtForward.originalDueAt - moment), moment),
      turnAt: broughtForward.originalDueAt, // where that has passed it is due now, and not late
    };
    if (isTest(delivery)) return settled(attempted, outcome.outcome === 'delivered' ? 'delivered' : 'failed', moment);
    switch (outcome.outcome) {
      case 'delivered':
        return settled(attempted, 'delivered', moment);
      case 'gone':
        return settled(attempted, 'held', moment);
      case 'failed': {
        if (originalWait) return { ...attempted, wait: originalWait };
        const charged = delivery.charged + 1;
        const wait = backoffWait(schedule, { charged, retryAfterMs: outcome.retryAfterMs }, random);
        if (wait === undefined) return settled({ ...attempted, charged }, 'failed', moment);
        return { ...attempted, charged, wait: waitOf(wait, moment) };
      }
      case 'given_up':
        return { ...attempted, ...(broughtForward && { broughtForward }), wait: waitOf(0, moment) };
      case 'internal_error': {
        if (isTooOld(delivery, moment)) return settled(attempted, 'failed', moment);
        const internalErrors = delivery.internalErrors + 1;
        const wait = originalWait ?? waitOf(internalErrorWait(internalErrors), moment);
        return { ...attempted, internalErrors, wait };
      }
    }
  };
}

/** Returns whether a delivery ends because it was kept from its attempts for too long. */
export function isTooOld(delivery: Delivery, now: number): boolean {
  return now - delivery.scheduledAt >= maxAge;
}

/** Returns whether a wait is spent as a delayed message in the queue. A longer one is spent in the table; the sweeper ends it. */
export function waitsInQueue({ nextAttemptAt, sweepAt }: Wait): boolean {
  return sweepAt > nextAttemptAt;
}

/** The states in which a delivery ends without an attempt. */
export type UnattemptedEnd = 'cancelled' | 'held';

/**
 * Returns how a delivery ends whose webhook makes an attempt impossible: without its registration it is cancelled, and held while
 * that is suspended. `undefined`: it may be attempted.
 */
export function unattemptedEndOf(delivery: Delivery, webhook: Webhook | undefined): UnattemptedEnd | undefined {
  if (webhook?.webhookId !== delivery.webhookId) return 'cancelled';
  if (webhook.status === 'suspended' && !isTest(delivery)) return 'held';
  // Only a test gets here. An operator has suspended since it was requested.
  return webhook.suspensionReason === 'operator' ? 'cancelled' : undefined;
}

/** Returns when the sweeper has something to do about a wait. */
export function sweeperActsAt({ sweepAt, claimedUntil }: Wait): number {
  return claimedUntil ?? sweepAt;
}

/** Returns a delivery whose next attempt is due after `waitMs`. */
export function scheduled(delivery: Delivery, now: number, waitMs: number): WaitingDelivery {
  return { ...delivery, wait: waitOf(waitMs, now) };
}

/** Returns a delivery whose next attempt is due now: the consumer that receives its message makes it. */
export function dueNow(delivery: Delivery, now: number): WaitingDelivery {
  return scheduled(delivery, now, 0);
}

/**
 * A delivery that begins a new schedule: due after `waitMs`, and nothing charged. Its attempt numbers go on, so that
 * messages of its earlier schedule stay stale.
 */
export function restarted(delivery: Delivery, now: number, waitMs = 0): WaitingDelivery {
  const { settledAt: _, replayId: __, replaySlotAt: ___, goneFrom: ____, ...rest } = delivery;
  return { ...rest, state: 'pending', scheduledAt: now, charged: 0, internalErrors: 0, wait: waitOf(waitMs, now) };
}

/**
 * A waiting delivery whose next attempt a resend brings forward to now. Returns nothing while it is due and may be in
 * flight: from when its latest message came for 2 min, in the slow queue for 5. The delivery leaves its replay: cancelling that does not
 * stop it any more.
 */
export function broughtForward(
  { replayId: _, replaySlotAt: __, ...delivery }: WaitingDelivery,
  now: number,
): WaitingDelivery | undefined {
  const { nextAttemptAt, slowLane } = delivery.wait;
  const arrivedAt = sweeperActsAt(delivery.wait) - leftAloneFor(delivery.wait);
  const inFlightUntil = arrivedAt + (slowLane === 'queued' ? slowQueueOverdue : overdueAfter);
  if (nextAttemptAt <= now && now < inFlightUntil && slowLane !== 'waiting') return undefined;
  const originalDueAt = delivery.broughtForward?.originalDueAt ?? turnOf(delivery, now);
  return { ...delivery, broughtForward: { at: now, originalDueAt }, wait: waitOf(0, now) };
}

/** Returns a delivery that waits in the table for a slot of its slow webhook, in the order of when it was due. */
export function waitingForSlot(delivery: Delivery, now: number): WaitingDelivery {
  const nextAttemptAt = turnOf(delivery, now);
  return { ...delivery, wait: { nextAttemptAt, sweepAt: nextAttemptAt, overdueCount: 0, slowLane: 'waiting' } };
}

/** Returns a delivery that waits in the table no longer, due after `waitMs`. It keeps its turn: its webhook may become slow again. */
export function released(delivery: WaitingDelivery, now: number, waitMs: number): WaitingDelivery {
  return { ...delivery, wait: { ...waitOf(waitMs, now), turnAt: turnOf(delivery, now) } };
}

/** A slot in the slow lane: its moment, in milliseconds since the epoch, and the number of its series. */
export interface Slot {
  readonly at: number;
  readonly series: number;
}

/** Returns a delivery that has a slot in the slow lane. If no message is sent within 2 min of the slot, the sweeper sends one. */
export function withSlot(delivery: Delivery, { at, series }: Slot, now: number): WaitingDelivery {
  const turnAt = turnOf(delivery, now);
  return {
    ...delivery,
    wait: { nextAttemptAt: at, sweepAt: at + overdueAfter, overdueCount: 0, slotSeries: series, turnAt },
  };
}

/**
 * Returns a delivery whose message is in the slow queue, where it may wait for long.
 *
 * @param mover - the message that moved it there; none where the sweeper did.
 */
export function queuedInSlowLane(delivery: WaitingDelivery, mover?: Mover): WaitingDelivery {
  const sweepAt = delivery.wait.nextAttemptAt + slowQueueOverdue;
  return { ...delivery, wait: { ...delivery.wait, sweepAt, slowLane: 'queued', ...mover } };
}

/**
 * The wait after the sweeper sends a delivery's message: the due time stays. After a long wait it is only claimed. If the
 * attempt was overdue, `sweepAt` moves on, by twice as long each time; in the slow queue always by as long.
 */
export function waitAfterSweep({ claimedUntil, movedBy: _, ...wait }: Wait, now: number): Wait {
  if (claimedUntil === undefined && !waitsInQueue(wait)) {
    return { ...wait, claimedUntil: Math.max(wait.nextAttemptAt, now) + overdueAfter };
  }
  const next = { ...wait, overdueCount: wait.overdueCount + 1 };
  return { ...next, sweepAt: now + leftAloneFor(next) };
}

/** Returns for how long the sweeper leaves an attempt to its latest message, once that can be received. */
function leftAloneFor({ slowLane, overdueCount }: Wait): number {
  if (slowLane !== 'queued') return overdueAfter * 2 ** overdueCount;
  return overdueCount === 0 ? slowQueueOverdue : slowQueueRepeat;
}

/** An internal error that repeats is one line in the history, or ten days of them would push everything else out. */
function withRecord(attempts: readonly AttemptRecord[], record: AttemptRecord): readonly AttemptRecord[] {
  const repeats = record.result === 'internal' && attempts.at(-1)?.result === 'internal';
  return [...(repeats ? attempts.slice(0, -1) : attempts), record].slice(-keptAttempts);
}

/** Returns since when a delivery is due: neither slots nor a resend change that. */
function turnOf({ wait }: Delivery, now: number): number {
  return wait?.turnAt ?? wait?.nextAttemptAt ?? now;
}

function waitOf(waitMs: number, now: number): Wait {
  const nextAttemptAt = now + Math.round(waitMs);
  const sweepAt = waitMs <= maxQueueDelay ? nextAttemptAt + overdueAfter : nextAttemptAt - sentBeforeDue;
  return { nextAttemptAt, sweepAt, overdueCount: 0 };
}
