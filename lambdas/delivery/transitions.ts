import type { Clock } from '../platform/clock.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import { backoffWait, internalErrorWait, type Random } from './backoff.ts';
import {
  type AttemptOutcome,
  type AttemptRecord,
  type Delivery,
  isTest,
  maxStoredAttempts,
  settled,
  type Wait,
  type WaitingDelivery,
} from './delivery.ts';

/** The maximum delay of an SQS message (`DelaySeconds`), in milliseconds. The sweeper sends the messages for longer waits. */
export const maxQueueDelay = 900_000;

/** The sweeper resends the message of an attempt that is overdue by this many milliseconds. */
export const overdueThreshold = 120_000;

/** A delivery fails if internal errors or a lack of slots have prevented its attempts for this many milliseconds. */
export const maxAge = 10 * 24 * 60 * 60_000;

/* The state transitions of deliveries. All functions are pure. Times and waits are in milliseconds. */

/** Returns the delivery after an attempt with this outcome. */
export type ApplyOutcome = (delivery: Delivery, outcome: AttemptOutcome) => Delivery;

/**
 * Returns the function that applies the outcome of an attempt to its delivery:
 * - `delivered` and `gone` (410) end the delivery.
 * - `failed` is charged. The next attempt is due after the next wait in the retry schedule. If the schedule is exhausted, the delivery fails.
 * - `given_up` is not charged. The attempt is repeated at once in the slow lane.
 * - `internal_error` is not charged. The attempt is repeated with its own backoff for up to 10 days.
 *
 * A test has one attempt. An expedited attempt is not charged. If it does not succeed, the next attempt is due at the original time.
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

/** Returns whether a delivery's current schedule has reached `maxAge`. */
export function isTooOld(delivery: Delivery, now: number): boolean {
  return now - delivery.scheduledAt >= maxAge;
}

/** Returns whether a delayed message waits in the queue. For a longer wait, the sweeper sends the message near the end of the wait. */
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
  // For a suspended webhook, only tests reach this line. An operator may have suspended the webhook since the request.
  return webhook.suspensionReason === 'operator' ? 'cancelled' : undefined;
}

/** Returns the time at which the sweeper must act on a wait. */
export function sweeperActsAt({ sweepAt, claimedUntil }: Wait): number {
  return claimedUntil ?? sweepAt;
}

/** Returns the delivery with the next attempt due after `waitMs`. */
export function scheduled(delivery: Delivery, now: number, waitMs: number): WaitingDelivery {
  return { ...delivery, wait: waitOf(waitMs, now) };
}

/** Returns the delivery with the next attempt due now. */
export function dueNow(delivery: Delivery, now: number): WaitingDelivery {
  return scheduled(delivery, now, 0);
}

/**
 * Returns the delivery at the start of a new schedule, due after `waitMs` and without charged attempts. The attempt numbers continue, so
 * messages from the earlier schedule remain stale.
 */
export function restarted(delivery: Delivery, now: number, waitMs = 0): WaitingDelivery {
  const { settledAt: _, ...rest } = delivery;
  return { ...rest, state: 'pending', scheduledAt: now, charged: 0, internalErrors: 0, wait: waitOf(waitMs, now) };
}

/**
 * Returns a waiting delivery with an expedited next attempt, for a resend. Returns `undefined` from the due time of the attempt until 2 min
 * after its latest message became available, because the attempt may be in flight.
 */
export function expedited(delivery: WaitingDelivery, now: number): WaitingDelivery | undefined {
  const { nextAttemptAt } = delivery.wait;
  const inFlightUntil = sweeperActsAt(delivery.wait) - resendDelay(delivery.wait) + overdueThreshold;
  if (nextAttemptAt <= now && now < inFlightUntil) return undefined;
  const originalDueAt = delivery.expedited?.originalDueAt ?? nextAttemptAt;
  return { ...delivery, expedited: { at: now, originalDueAt }, wait: waitOf(0, now) };
}

/**
 * Returns the wait after the sweeper sends the message of a delivery. The due time does not change. For a long wait, the result is only a
 * claim. For an overdue attempt, `sweepAt` advances by twice the previous interval.
 */
export function waitAfterSweep({ claimedUntil, ...wait }: Wait, now: number): Wait {
  if (claimedUntil === undefined && !waitsInQueue(wait)) {
    return { ...wait, claimedUntil: Math.max(wait.nextAttemptAt, now) + overdueThreshold };
  }
  const next = { ...wait, overdueCount: wait.overdueCount + 1 };
  return { ...next, sweepAt: now + resendDelay(next) };
}

/** Returns how many milliseconds after a message became available the sweeper resends it. */
function resendDelay({ overdueCount }: Wait): number {
  return overdueThreshold * 2 ** overdueCount;
}

/** Adds a record. Consecutive internal errors share one record, so ten days of internal errors do not displace all other records. */
function withRecord(attempts: readonly AttemptRecord[], record: AttemptRecord): readonly AttemptRecord[] {
  const repeats = record.result === 'internal' && attempts.at(-1)?.result === 'internal';
  return [...(repeats ? attempts.slice(0, -1) : attempts), record].slice(-maxStoredAttempts);
}

function waitOf(waitMs: number, now: number): Wait {
  const nextAttemptAt = now + Math.round(waitMs);
  const sweepAt = waitMs <= maxQueueDelay ? nextAttemptAt + overdueThreshold : nextAttemptAt - sendLeadTime;
  return { nextAttemptAt, sweepAt, overdueCount: 0 };
}

/** The sweeper, which runs every minute, sends the message of a long wait this many milliseconds before the attempt is due. */
const sendLeadTime = 60_000;
