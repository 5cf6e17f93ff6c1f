import type { Clock } from '../platform/clock.ts';
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
import { maxQueueDelay, slowQueueOverdue } from './limits.ts';

/** Whether the next attempt's message is the outcome's to send, or was sent: otherwise it is the sweeper's. */
export function waitsInQueue({ nextAttemptAt, sweepAt }: Wait): boolean {
  return sweepAt > nextAttemptAt;
}

/** A delivery whose attempt is put off, and made by the consumer of the retry queue. */
export function scheduled(delivery: Delivery, now: number, waitMs: number): WaitingDelivery {
  return {
    ...delivery,
    wait: waitOf(waitMs, now),
  };
}

/** A delivery that waits in the table for a turn of its slow webhook, in the order of when it was due. */
export function waitingForSlot(delivery: Delivery, now: number): WaitingDelivery {
  const nextAttemptAt = delivery.wait?.nextAttemptAt ?? now;
  return { ...delivery, wait: { nextAttemptAt, sweepAt: nextAttemptAt, overdueCount: 0, slowLane: 'waiting' } };
}

/** A delivery that has a turn in the slow lane. Until its message is sent, the sweeper finds it overdue after 2 min. */
export function withSlot(delivery: Delivery, turnAt: number): WaitingDelivery {
  return {
    ...delivery,
    wait: { nextAttemptAt: Math.round(turnAt), sweepAt: Math.round(turnAt) + overdueAfter, overdueCount: 0 },
  };
}

/** A delivery whose message is in the slow queue, where it may wait for long. */
export function queuedInSlowLane(delivery: WaitingDelivery): WaitingDelivery {
  const { nextAttemptAt, overdueCount } = delivery.wait;
  return {
    ...delivery,
    wait: { nextAttemptAt, sweepAt: nextAttemptAt + slowQueueOverdue, overdueCount, slowLane: 'queued' },
  };
}

/** A delivery whose next attempt is due now: the consumer that receives its message makes it. */
export function dueNow(delivery: Delivery, now: number): WaitingDelivery {
  return scheduled(delivery, now, 0);
}

/**
 * A delivery that begins a new schedule: due now, or after `waitMs` milliseconds, and nothing charged. Its numbers go on,
 * so that messages of its earlier life stay stale.
 */
export function restarted(delivery: Delivery, now: number, waitMs = 0): WaitingDelivery {
  const { settledAt: _, replayId: __, ...rest } = delivery;
  return { ...rest, state: 'pending', scheduledAt: now, charged: 0, internalErrors: 0, wait: waitOf(waitMs, now) };
}

/**
 * A waiting delivery whose next attempt is brought forward to now; nothing, where that is due or under way. It is no
 * replay's any more: to cancel that does not stop it.
 */
export function broughtForward(
  { replayId: _, ...delivery }: WaitingDelivery,
  now: number,
): WaitingDelivery | undefined {
  const { nextAttemptAt, slowLane } = delivery.wait;
  if (nextAttemptAt <= now && slowLane !== 'waiting') return undefined;
  const originalDueAt = delivery.broughtForward?.originalDueAt ?? nextAttemptAt;
  return { ...delivery, broughtForward: { at: now, originalDueAt }, wait: waitOf(0, now) };
}

/** The wait after the sweeper sends a delivery's message: its due time stays, the next look doubles if it was overdue. */
export function waitAfterSweep(wait: Wait, now: number): Wait {
  return waitsInQueue(wait)
    ? {
        ...wait,
        sweepAt: now + overdueAfterOf(wait) * 2 ** (wait.overdueCount + 1),
        overdueCount: wait.overdueCount + 1,
      }
    : { ...wait, sweepAt: Math.max(wait.nextAttemptAt, now) + overdueAfter };
}

/** Whether a delivery has been kept from its attempts for so long that it ends. */
export function isTooOld(delivery: Delivery, now: number): boolean {
  return now - delivery.scheduledAt >= longestLife;
}

/** What deciding on a delivery's next step depends on. */
export interface LifecycleRules {
  /** The waits between attempts in milliseconds. */
  readonly schedule: readonly number[];
  readonly now: Clock;
  readonly random: Random;
}

/** What becomes of a delivery after an attempt: pure but for the clock and the spread of the waits. */
export type ApplyOutcome = (delivery: Delivery, outcome: AttemptOutcome) => Delivery;

/** Makes the decision on what becomes of a delivery after an attempt. */
export function makeApplyOutcome({ schedule, now, random }: LifecycleRules): ApplyOutcome {
  return function applyOutcome(delivery, outcome) {
    const moment = now();
    const { broughtForward, ...rest } = delivery;
    const attempted: Delivery = {
      ...rest,
      attempt: delivery.attempt + 1,
      internalErrors: 0,
      attempts: withRecord(delivery.attempts, outcome.record),
    };
    const originalWait = broughtForward && waitOf(Math.max(0, broughtForward.originalDueAt - moment), moment);
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
        return {
          ...attempted,
          internalErrors,
          wait: originalWait ?? waitOf(internalErrorWait(internalErrors), moment),
        };
      }
    }
  };
}

function waitOf(waitMs: number, now: number): Wait {
  const nextAttemptAt = now + Math.round(waitMs);
  const sweepAt = waitMs <= maxQueueDelay ? nextAttemptAt + overdueAfter : nextAttemptAt - sendBeforeDue;
  return { nextAttemptAt, sweepAt, overdueCount: 0 };
}

/** The sweeper brings back what is overdue by this much, in milliseconds, and doubles it each time. */
const overdueAfter = 120_000;

/** The sweeper runs every minute: it hands a long wait over to the queue in its last minute, in milliseconds. */
const sendBeforeDue = 60_000;

function overdueAfterOf({ slowLane }: Wait): number {
  return slowLane === 'queued' ? slowQueueOverdue : overdueAfter;
}

/** Deliveries that our own faults keep from being attempted end after ten days, in milliseconds. */
const longestLife = 10 * 24 * 60 * 60_000;

/** A fault of our own that repeats is one line in the history, or ten days of them would push everything else out. */
function withRecord(attempts: readonly AttemptRecord[], record: AttemptRecord): readonly AttemptRecord[] {
  const repeats = record.result === 'internal' && attempts.at(-1)?.result === 'internal';
  return [...(repeats ? attempts.slice(0, -1) : attempts), record].slice(-keptAttempts);
}
