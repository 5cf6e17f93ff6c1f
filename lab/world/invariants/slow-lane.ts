import { isTest } from '../../../lambdas/delivery/delivery.ts';
import { slownessId, slownessPrefix } from '../../../lambdas/delivery/lanes/slow-since.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import { maxInFlight } from '../isolation/bounds.ts';
import type { World } from '../make-world.ts';
import { clockError, minute, second } from '../times.ts';
import { type Change, itemsWithin } from '../watched-tables.ts';
import type { Evidence } from './evidence.ts';
import type { Check, Violate } from './violation.ts';

/**
 * Checks the slow lane. It must limit the attempts in flight of each webhook. A webhook must stay in the lane for at least
 * 1 minute, and leave it after a quick response.
 */
export function checkSlowLane(
  { cloud, watched, receivers, people, faultClass }: World,
  evidence: () => Evidence,
  violate: Violate,
): Check {
  return { checkAtEnd };

  function checkAtEnd(): void {
    const successes = faultClass === 'none' ? quickSuccesses() : new Map<string, readonly Success[]>();
    for (const [key, changes] of watched.changesOf('Deliveries')) {
      const [id = '', part] = key.split(' ');
      if (!id.startsWith(slownessPrefix) || part !== headPart) continue;
      if (people.wasDeleted(String(changes[0]?.item?.accountId), 0)) continue;
      checkRelease(id, changes);
      for (const success of successes.get(id) ?? []) checkSuccess(id, changes, success);
    }
    for (const [webhook, attempts] of Map.groupBy(slowAttempts(), one => one.webhook)) {
      const inFlight = maxOverlap(attempts);
      if (inFlight > maxInFlight) violate(`${webhook} has ${inFlight} attempts in flight in the slow lane`);
    }
  }

  /** Checks that a webhook stays slow for 1 minute after its slow attempts last reached the limit. Each relapse doubles the time. */
  function checkRelease(id: string, changes: readonly Change[]): void {
    for (const { at, before, item } of changes) {
      if (before?.slowSince === undefined || item?.slowSince !== undefined) continue;
      if (at < Number(before.reachedAt) + minSlowTime(changes, at) - clockError)
        violate(`${id} left the slow lane too early`);
    }
  }

  function checkSuccess(id: string, changes: readonly Change[], { at, startedAt }: Success): void {
    const isStillSlow = itemsWithin(changes, at - maxReadDelay, at + maxReadDelay).every(
      item => Number(item?.slowSince) && startedAt > Number(item?.reachedAt) + minSlowTime(changes, at),
    );
    if (isStillSlow) violate(`${id} is quick again, but remains in the slow lane`);
  }

  /** Returns the quick successes in the slow lane, by the id of the slowness item. Tests are excluded, because they do not affect slowness. */
  function quickSuccesses(): ReadonlyMap<string, readonly Success[]> {
    const successes = [...evidence().deliveries.values()].flatMap(changes =>
      changes.flatMap(({ at, delivery }, index) => {
        const record = delivery?.attempts.at(-1);
        const isNew = delivery && delivery.attempt > (changes[index - 1]?.delivery?.attempt ?? 1);
        if (!record || !isNew || isTest(delivery)) return [];
        if (record.result !== 'delivered' || record.durationMs > slowAfter) return [];
        if (receivers.postsOf(delivery.id).at(-1)?.functionName !== 'deliver-slow') return [];
        return [{ id: slownessId(delivery), at, startedAt: Date.parse(record.startedAt) }];
      }),
    );
    return Map.groupBy(successes, ({ id }) => id);
  }

  /** Returns the attempts that the slow lane logged. */
  function slowAttempts(): readonly SlowAttempt[] {
    const lines = cloud.logs({ text: '"service":"deliver-slow"' });
    return lines
      .filter(({ text }) => text.includes('"message":"delivery.attempt"'))
      .map(({ at, text }) => {
        const { account, event, durationMs }: LogLine = JSON.parse(text);
        return { webhook: `${account} ${event}`, from: at - durationMs, until: at };
      });
  }
}

/** A successful attempt. `at` is the time at which its outcome was stored. */
interface Success {
  readonly at: number;
  readonly startedAt: number;
}

interface SlowAttempt {
  readonly webhook: string;
  readonly from: number;
  readonly until: number;
}

interface LogLine {
  readonly account: string;
  readonly event: string;
  readonly durationMs: number;
}

/** Returns the maximum number of spans that overlap. */
export function maxOverlap(spans: readonly { readonly from: number; readonly until: number }[]): number {
  const changes = spans.flatMap(({ from, until }) => [
    { at: from, by: 1 },
    { at: until, by: -1 },
  ]);
  let [count, max] = [0, 0];
  for (const { by } of changes.toSorted((one, other) => one.at - other.at || one.by - other.by)) {
    count += by;
    max = Math.max(max, count);
  }
  return max;
}

/** The duration above which an attempt is slow. */
const slowAfter = 2 * second;

/** The maximum time from reading a slowness item to the decision based on it, without faults. */
const maxReadDelay = 2 * second;

/** Returns the minimum time for which a webhook stays slow, in milliseconds. */
function minSlowTime(changes: readonly Change[], at: number): number {
  const slowStarts = changes.filter(one => one.at <= at && one.item?.slowSince && !one.before?.slowSince);
  return Math.min(minute * 2 ** (slowStarts.length - 1), 60 * minute);
}
