import { isTest } from '../../../lambdas/delivery/delivery.ts';
import { slownessId, slownessPrefix } from '../../../lambdas/delivery/lanes/slow-since.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import { maxInFlight } from '../isolation/bounds.ts';
import type { World } from '../make-world.ts';
import { clockError, minute, second } from '../times.ts';
import { type Change, itemsWithin } from '../watched-tables.ts';
import type { Evidence } from './evidence.ts';
import type { Judgement, Violate } from './violation.ts';

/**
 * Judges the slow lane. It limits the attempts in flight of a webhook. A webhook stays at least a minute, and leaves
 * after a quick response.
 */
export function judgeSlowLane(
  { cloud, watched, receivers, people, faultClass }: World,
  evidence: () => Evidence,
  violate: Violate,
): Judgement {
  return { judgeEnd };

  function judgeEnd(): void {
    const successes = faultClass === 'calm' ? quickSuccesses() : new Map<string, readonly Success[]>();
    for (const [key, changes] of watched.changesOf('Deliveries')) {
      const [id = '', part] = key.split(' ');
      if (!id.startsWith(slownessPrefix) || part !== headPart) continue;
      if (people.wasDeleted(String(changes[0]?.item?.accountId), 0)) continue;
      judgeLeaving(id, changes);
      for (const success of successes.get(id) ?? []) judgeSuccess(id, changes, success);
    }
    for (const [webhook, attempts] of Map.groupBy(slowAttempts(), one => one.webhook)) {
      const most = maxAtOnce(attempts);
      if (most > maxInFlight) violate(`${webhook} has ${most} attempts in flight in the slow lane`);
    }
  }

  /** A webhook stays slow for a minute after its slow attempts last reached their limit. Each relapse doubles that. */
  function judgeLeaving(id: string, changes: readonly Change[]): void {
    for (const { at, before, item } of changes) {
      if (before?.slowSince === undefined || item?.slowSince !== undefined) continue;
      if (at < Number(before.reachedAt) + holdAt(changes, at) - clockError)
        violate(`${id} left the slow lane too early`);
    }
  }

  function judgeSuccess(id: string, changes: readonly Change[], { at, startedAt }: Success): void {
    const isKept = itemsWithin(changes, at - maxRead, at + maxRead).every(
      item => Number(item?.slowSince) && startedAt > Number(item?.reachedAt) + holdAt(changes, at),
    );
    if (isKept) violate(`${id} was quick again, and stays in the slow lane`);
  }

  /** Returns the quick successes in the slow lane, by slowness. Tests do not affect their webhook. */
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

/** A success, with the start time of its attempt and the time of its write. */
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

/** Returns the maximum number of overlapping spans. */
export function maxAtOnce(spans: readonly { readonly from: number; readonly until: number }[]): number {
  const changes = spans.flatMap(({ from, until }) => [
    { at: from, by: 1 },
    { at: until, by: -1 },
  ]);
  let [count, most] = [0, 0];
  for (const { by } of changes.toSorted((one, other) => one.at - other.at || one.by - other.by)) {
    count += by;
    most = Math.max(most, count);
  }
  return most;
}

/** An attempt that takes longer is slow. */
const slowAfter = 2 * second;

/** The maximum time from reading a slowness to the decision based on it, in calm. */
const maxRead = 2 * second;

/** Returns the time for which a webhook stays slow, in milliseconds. */
function holdAt(changes: readonly Change[], at: number): number {
  const started = changes.filter(one => one.at <= at && one.item?.slowSince && !one.before?.slowSince);
  return Math.min(minute * 2 ** (started.length - 1), 60 * minute);
}
