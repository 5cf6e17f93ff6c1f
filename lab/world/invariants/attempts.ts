import { isDeepStrictEqual } from 'node:util';
import { type AttemptRecord, type Delivery, isTest } from '../../../lambdas/delivery/delivery.ts';
import type { World } from '../make-world.ts';
import { clockError, day, second } from '../times.ts';
import type { Evidence } from './evidence.ts';
import { mayHaveResent } from './replay-runs.ts';
import type { Check, Violate } from './violation.ts';

/** Checks the attempt numbers, charges and waits of each delivery, and the reason for its end or restart. */
export function checkAttempts({ stage, faultClass }: World, evidence: () => Evidence, violate: Violate): Check {
  return { checkAtEnd };

  function checkAtEnd(): void {
    for (const [id, changes] of evidence().deliveries) {
      if (changes.at(-1)?.delivery?.state === 'pending') violate('pending at the end', id);
      let before: Delivery | undefined;
      for (const { at, delivery } of changes) {
        if (delivery) checkChange(before, delivery, at);
        before = delivery;
      }
    }
  }

  function checkChange(before: Delivery | undefined, after: Delivery, at: number): void {
    const { id } = after;
    if (!before && after.attempt > 2) violate('the first version has an attempt number over 2', id);
    const isAttempted = after.attempt > (before?.attempt ?? 1);
    if (before && ![0, 1].includes(after.attempt - before.attempt))
      violate('an attempt number is missing or repeated', id);
    checkRecords(before?.attempts ?? [], after, isAttempted);
    if (isTest(after) && after.attempts.length > 1) violate('a test was attempted more than once', id);
    if (isAttempted) checkOutcome(before, after, at);
    else if (before) checkOtherChange(before, after, at);
    checkDeferral(before, after, at);
    if (before?.state !== after.state) checkState(after, at);
  }

  /** Checks a deferral without a charge. Its maximum is twice the delivery's age, but at least 30 s and at most 1 day. */
  function checkDeferral(before: Delivery | undefined, after: Delivery, at: number): void {
    const { id, charged, internalErrors, scheduledAt, createdAt, wait } = after;
    const isInternal = internalErrors > (before?.internalErrors ?? 0);
    const isCharged = charged > (before?.charged ?? 0);
    const isNew = before !== undefined && scheduledAt !== before.scheduledAt;
    const isLater = wait && wait.nextAttemptAt > (before?.wait?.nextAttemptAt ?? 0);
    if (!isLater || isInternal || isCharged || isNew || before?.expedited) return;
    const maxDeferral = Math.min(Math.max(2 * (at - createdAt), minDeferral), day);
    if (wait.nextAttemptAt > at + maxDeferral + clockError) violate('deferred for longer than allowed', id);
  }

  /** Checks that recorded attempts remain unchanged. Of consecutive internal errors, only the latest must remain. */
  function checkRecords(
    before: readonly AttemptRecord[],
    { id, attempt, attempts }: Delivery,
    isAttempted: boolean,
  ): void {
    const earlier = isAttempted ? attempts.slice(0, -1) : attempts;
    const expected = before.length > earlier.length ? before.slice(0, earlier.length) : before;
    if (!isDeepStrictEqual(earlier.map(keyOf), expected.map(keyOf))) violate('a recorded attempt was changed', id);
    const internalRecords = [before.at(-1), attempts.at(-1)].filter(one => one?.result === 'internal');
    const isMerged = isAttempted && before.length === earlier.length + 1 && internalRecords.length === 2;
    if (before.length > earlier.length && !isMerged) violate('a recorded attempt is missing', id);
    if (isAttempted && attempts.at(-1)?.number !== attempt - 1)
      violate('an attempt was recorded with the wrong number', id);
  }

  function checkOutcome(before: Delivery | undefined, after: Delivery, at: number): void {
    const { id, attempts, charged } = after;
    const record = attempts.at(-1);
    if (!record) {
      violate('an attempt has no record', id);
      return;
    }
    if (record.result === 'delivered' && after.state !== 'delivered') violate('not delivered after a success', id);
    if (record.result === 'internal' && faultClass === 'none')
      violate('treated as an internal error without faults', id);
    const isGone = record.status === 410 && after.state === 'held';
    const resentAt = before?.expedited && expeditedAt(before);
    const mayCharge = isFailure(record) && !isGone && !isTest(after);
    // A resend may expedite a delivery during its attempt, because clocks differ and the SDK retries writes. Such an attempt may be charged.
    const isInFlight = resentAt !== undefined && Date.parse(record.startedAt) < resentAt + clockError;
    const isCharged = mayCharge && (resentAt === undefined || (isInFlight && charged > (before?.charged ?? 0)));
    if (charged !== (before?.charged ?? 0) + (isCharged ? 1 : 0)) violate('charged incorrectly', id);
    if (isCharged && after.wait) {
      const wait = stage.values.retrySchedule[charged - 1] ?? Number.POSITIVE_INFINITY;
      const from = Date.parse(record.startedAt) + record.durationMs;
      const requestedWait = (evidence().postOf(id, record, at)?.retryAfter ?? 0) * second;
      const { nextAttemptAt } = after.wait;
      if (nextAttemptAt < from + Math.max(0.8 * wait, requestedWait) - clockError)
        violate('the wait is shorter than the schedule or Retry-After', id);
      if (nextAttemptAt > at + Math.max(wait, requestedWait) + clockError)
        violate('the wait is longer than the schedule and Retry-After', id);
    }
    const original = before?.expedited?.originalDueAt;
    const isResent = !isCharged && (!isInFlight || isFailure(record)) && record.result !== 'slow';
    if (isResent && original !== undefined && after.wait) {
      const { nextAttemptAt } = after.wait;
      const isMoved = nextAttemptAt < original || nextAttemptAt > Math.max(original, at) + clockError;
      if (isMoved) violate('a resend moved the next attempt', id);
    }
  }

  function checkOtherChange(before: Delivery, after: Delivery, at: number): void {
    const { id, charged, scheduledAt } = after;
    const isNew = scheduledAt !== before.scheduledAt;
    if (charged !== (isNew ? 0 : before.charged)) violate('charged without an attempt', id);
    if (!isNew && before.state !== 'pending' && before.state !== after.state) {
      violate('the state changed after the end', id);
    }
    const isSame = isDeepStrictEqual(after, before);
    if (!isSame && after.version !== (before.version ?? 0) + 1) violate('a change overwrote another change', id);
    const isReplayed = isNew && [...evidence().replays.values()].some(run => mayHaveResent(run, before, at));
    if (isNew && !isReplayed && !evidence().wasResent(id, at)) violate('resent without a request', id);
    const isExpedited = after.expedited && after.expedited.at !== before.expedited?.at;
    if (isExpedited && !evidence().wasResent(id, at)) violate('expedited without a request', id);
    const isResent = isExpedited || (isNew && !isReplayed);
    if (isResent && after.wait && after.wait.nextAttemptAt > at + clockError) violate('resent with a delay', id);
  }

  /** Returns the time at which a resend expedited the next attempt. */
  function expeditedAt({ id, expedited }: Delivery): number | undefined {
    const changes = evidence().deliveries.get(id) ?? [];
    return changes.find(({ delivery }) => delivery?.expedited?.at === expedited?.at)?.at;
  }

  /** Checks that the webhook and the attempts permit the new state of a delivery. */
  function checkState(after: Delivery, at: number): void {
    const { id, webhookId, state, attempts, charged } = after;
    const latest = attempts.at(-1);
    const webhooks = evidence().webhooksBefore(after, at);
    const own = webhooks.filter(webhook => webhook?.webhookId === webhookId);
    if (state === 'delivered' && latest?.result !== 'delivered') violate('delivered without a successful attempt', id);
    if (state === 'failed' && !isTest(after) && charged !== stage.values.retrySchedule.length + 1) {
      violate('failed before the end of the retry schedule', id);
    }
    if (state === 'cancelled') {
      const isOver =
        own.length < webhooks.length || (isTest(after) && own.some(one => one?.suspensionReason === 'operator'));
      if (!isOver) violate('cancelled although its webhook was registered', id);
    }
    if (state === 'held') {
      if (isTest(after)) violate('a test was held', id);
      if (!own.some(one => one?.status === 'suspended')) violate('held although its webhook was active', id);
    }
  }
}

/** Returns whether an attempt failed because of its receiver or the network. */
export function isFailure({ result }: AttemptRecord): boolean {
  return result !== 'delivered' && result !== 'slow' && result !== 'internal';
}

function keyOf({ number, startedAt, result }: AttemptRecord): string {
  return `${number} ${startedAt} ${result}`;
}

/** The maximum deferral of a new delivery in the slow lane. */
const minDeferral = 30 * second;
