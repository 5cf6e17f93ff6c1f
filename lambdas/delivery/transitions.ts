import type { Clock } from '../platform/clock.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import { backoffWait, internalErrorWait, type Random } from './backoff.ts';
import {
  type AttemptOutcome,
  type AttemptRecord,
  type Delivery,
  isTest,
  keptAttempts,
  settled,
  type Wait,
  type WaitingDelivery,
} from './delivery.ts';

/** The longest that SQS holds a message back (`DelaySeconds`). The sweeper sends the messages of longer waits. */
export const maxQueueDelay = 900_000;

/** An attempt that is overdue by this much is sent again by the sweeper. */
export const overdueAfter = 120_000;

/** A delivery ends when internal errors or its slow webhook have kept it from its attempts for this long. */
export const maxAge = 10 * 24 * 60 * 60_000;

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
 * A test gets one attempt. An expedited attempt is not charged. If it does not succeed, the old due time
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
    const { expedited, ...rest } = delivery;
    const attempted: Delivery = {
      ...rest,
      attempt: delivery.attempt + 1,
      internalErrors: 0,
      attempts: withRecord(delivery.attempts, outcome.record),
    };
    const originalWait = expedited && waitOf(Math.max(0, expedited.originalDueAt - moment), moment);
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
        return { ...attempted, ...(expedited && { expedited }), wait: waitOf(0, moment) };
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

/** The state in which a delivery ends without an attempt. */
export type SkipReason = 'cancelled' | 'held';

/**
 * Returns the state in which a delivery ends without an attempt: `cancelled` if its registration is gone, `held` if that is suspended.
 * `undefined`: it may be attempted.
 */
export function skipReason(delivery: Delivery, webhook: Webhook | undefined): SkipReason | undefined {
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
  const { settledAt: _, ...rest } = delivery;
  return { ...rest, state: 'pending', scheduledAt: now, charged: 0, internalErrors: 0, wait: waitOf(waitMs, now) };
}

/**
 * Makes the next attempt of a waiting delivery due now, for a resend. Returns nothing while it is due and may be in
 * flight: for 2 min from when its latest message came.
 */
export function expedited(delivery: WaitingDelivery, now: number): WaitingDelivery | undefined {
  const { nextAttemptAt } = delivery.wait;
  const inFlightUntil = sweeperActsAt(delivery.wait) - leftAloneFor(delivery.wait) + overdueAfter;
  if (nextAttemptAt <= now && now < inFlightUntil) return undefined;
  const originalDueAt = delivery.expedited?.originalDueAt ?? nextAttemptAt;
  return { ...delivery, expedited: { at: now, originalDueAt }, wait: waitOf(0, now) };
}

/**
 * The wait after the sweeper sends a delivery's message: the due time stays. After a long wait it is only claimed. If the
 * attempt was overdue, `sweepAt` moves on, by twice as long each time.
 */
export function waitAfterSweep({ claimedUntil, ...wait }: Wait, now: number): Wait {
  if (claimedUntil === undefined && !waitsInQueue(wait)) {
    return { ...wait, claimedUntil: Math.max(wait.nextAttemptAt, now) + overdueAfter };
  }
  const next = { ...wait, overdueCount: wait.overdueCount + 1 };
  return { ...next, sweepAt: now + leftAloneFor(next) };
}

/** Returns for how long the sweeper leaves an attempt to its latest message, once that can be received. */
function leftAloneFor({ overdueCount }: Wait): number {
  return overdueAfter * 2 ** overdueCount;
}

/** An internal error that repeats is one line in the history, or ten days of them would push everything else out. */
function withRecord(attempts: readonly AttemptRecord[], record: AttemptRecord): readonly AttemptRecord[] {
  const repeats = record.result === 'internal' && attempts.at(-1)?.result === 'internal';
  return [...(repeats ? attempts.slice(0, -1) : attempts), record].slice(-keptAttempts);
}

function waitOf(waitMs: number, now: number): Wait {
  const nextAttemptAt = now + Math.round(waitMs);
  const sweepAt = waitMs <= maxQueueDelay ? nextAttemptAt + overdueAfter : nextAttemptAt - sentBeforeDue;
  return { nextAttemptAt, sweepAt, overdueCount: 0 };
}

/** The sweeper runs every minute: it sends the message of a long wait in the last minute before the attempt is due. */
const sentBeforeDue = 60_000;
