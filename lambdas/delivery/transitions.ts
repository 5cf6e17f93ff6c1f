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

/** The maximum delay of a message in SQS (`DelaySeconds`). The sweeper sends the messages of longer waits. */
export const maxQueueDelay = 900_000;

/** The sweeper resends the message of an attempt that is overdue by this much. */
export const overdueAfter = 120_000;

/** A delivery ends if internal errors or its slow webhook have prevented its attempts for this long. */
export const maxAge = 10 * 24 * 60 * 60_000;

/*
 * The transitions of a delivery from one state to the next. All functions are pure. Times and waits are in milliseconds.
 */

/** Returns the delivery after an attempt. */
export type ApplyOutcome = (delivery: Delivery, outcome: AttemptOutcome) => Delivery;

/**
 * Returns the function that applies the outcome of an attempt to its delivery:
 * - `delivered` and `gone` (410) end it;
 * - `failed` is charged, and the next attempt is due after the backoff of the retry schedule. After the schedule's last wait, the
 *   delivery fails;
 * - `given_up` is repeated at once in the slow lane, and is not charged;
 * - `internal_error` is repeated with its own backoff for up to 10 days, and is not charged.
 *
 * A test has one attempt. An expedited attempt is not charged. If it does not succeed, the original due time applies, with its
 * entry in the table.
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

/** Returns whether a delivery ends because its attempts were prevented for too long. */
export function isTooOld(delivery: Delivery, now: number): boolean {
  return now - delivery.scheduledAt >= maxAge;
}

/** Returns whether a wait is a delayed message in the queue. The sweeper sends the message of a longer wait near its end. */
export function waitsInQueue({ nextAttemptAt, sweepAt }: Wait): boolean {
  return sweepAt > nextAttemptAt;
}

/** The state in which a delivery ends without an attempt. */
export type SkipReason = 'cancelled' | 'held';

/**
 * Returns the state in which a delivery ends without an attempt, or `undefined` if it may be attempted. It is `cancelled` if its
 * registration no longer exists, and `held` if the webhook is suspended.
 */
export function skipReason(delivery: Delivery, webhook: Webhook | undefined): SkipReason | undefined {
  if (webhook?.webhookId !== delivery.webhookId) return 'cancelled';
  if (webhook.status === 'suspended' && !isTest(delivery)) return 'held';
  // Only tests reach this line: an operator may have suspended the webhook since the request.
  return webhook.suspensionReason === 'operator' ? 'cancelled' : undefined;
}

/** Returns when the sweeper must act on a wait. */
export function sweeperActsAt({ sweepAt, claimedUntil }: Wait): number {
  return claimedUntil ?? sweepAt;
}

/** Returns a delivery whose next attempt is due after `waitMs`. */
export function scheduled(delivery: Delivery, now: number, waitMs: number): WaitingDelivery {
  return { ...delivery, wait: waitOf(waitMs, now) };
}

/** Returns a delivery whose next attempt is due now. The consumer that receives its message makes the attempt. */
export function dueNow(delivery: Delivery, now: number): WaitingDelivery {
  return scheduled(delivery, now, 0);
}

/**
 * Returns a delivery that starts a new schedule, due after `waitMs`, with no charged attempts. Its attempt numbers continue, so that
 * messages of its earlier schedule remain stale.
 */
export function restarted(delivery: Delivery, now: number, waitMs = 0): WaitingDelivery {
  const { settledAt: _, ...rest } = delivery;
  return { ...rest, state: 'pending', scheduledAt: now, charged: 0, internalErrors: 0, wait: waitOf(waitMs, now) };
}

/**
 * Returns a waiting delivery whose next attempt is due now, for a resend. Returns `undefined` if the attempt is due and may be in flight,
 * which is until 2 min after its latest message became available.
 */
export function expedited(delivery: WaitingDelivery, now: number): WaitingDelivery | undefined {
  const { nextAttemptAt } = delivery.wait;
  const inFlightUntil = sweeperActsAt(delivery.wait) - leftAloneFor(delivery.wait) + overdueAfter;
  if (nextAttemptAt <= now && now < inFlightUntil) return undefined;
  const originalDueAt = delivery.expedited?.originalDueAt ?? nextAttemptAt;
  return { ...delivery, expedited: { at: now, originalDueAt }, wait: waitOf(0, now) };
}

/**
 * Returns the wait after the sweeper sends a delivery's message. The due time does not change. After a long wait, the delivery is only
 * claimed. If the attempt was overdue, `sweepAt` advances, by twice as long each time.
 */
export function waitAfterSweep({ claimedUntil, ...wait }: Wait, now: number): Wait {
  if (claimedUntil === undefined && !waitsInQueue(wait)) {
    return { ...wait, claimedUntil: Math.max(wait.nextAttemptAt, now) + overdueAfter };
  }
  const next = { ...wait, overdueCount: wait.overdueCount + 1 };
  return { ...next, sweepAt: now + leftAloneFor(next) };
}

/** Returns how long the sweeper waits for an attempt after its latest message becomes available. */
function leftAloneFor({ overdueCount }: Wait): number {
  return overdueAfter * 2 ** overdueCount;
}

/** Adds a record. Consecutive internal errors share one record, so that ten days of them do not displace all other records. */
function withRecord(attempts: readonly AttemptRecord[], record: AttemptRecord): readonly AttemptRecord[] {
  const repeats = record.result === 'internal' && attempts.at(-1)?.result === 'internal';
  return [...(repeats ? attempts.slice(0, -1) : attempts), record].slice(-keptAttempts);
}

function waitOf(waitMs: number, now: number): Wait {
  const nextAttemptAt = now + Math.round(waitMs);
  const sweepAt = waitMs <= maxQueueDelay ? nextAttemptAt + overdueAfter : nextAttemptAt - sentBeforeDue;
  return { nextAttemptAt, sweepAt, overdueCount: 0 };
}

/** The sweeper runs every minute. It sends the message of a long wait in the last minute before the attempt is due. */
const sentBeforeDue = 60_000;
