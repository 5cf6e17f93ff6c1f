import { type AttemptRecord, isTest } from '../../../lambdas/delivery/delivery.ts';
import { slownessId, slownessPrefix } from '../../../lambdas/delivery/isolation/slow-since.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import type { World } from '../make-world.ts';
import { clockError, minute, second } from '../times.ts';
import { type Change, itemsWithin } from '../watched-tables.ts';
import type { Evidence } from './evidence.ts';
import type { Judgement, Violate } from './violation.ts';

/**
 * Judges the slots of slow webhooks: those of a series are as far apart as its pace says, which is that of its attempts; and that each
 * leaves the slow lane in time.
 */
export function judgeSlots(
  { watched, people, stage, faultClass }: World,
  evidence: () => Evidence,
  violate: Violate,
): Judgement {
  return { judgeEnd };

  function judgeEnd(): void {
    const attempts = readAttempts();
    for (const [key, changes] of watched.changesOf('Deliveries')) {
      const [id = '', part] = key.split(' ');
      if (!id.startsWith(slownessPrefix) || part !== headPart) continue;
      if (people.wasDeleted(String(changes[0]?.item?.accountId), 0)) continue;
      judgeLeaving(id, changes);
      // What cannot be stored of an attempt counts for nothing.
      judgePace(id, changes, faultClass === 'calm' ? (attempts.get(id) ?? []) : []);
    }
    for (const [name, slots] of readSlots()) {
      const [id = '', series] = name.split(' ');
      const own = paceOf(id, Number(series));
      if (own === undefined) violate(`a slot of ${id} is of a series that has no pace`);
      const pace = Math.max(own ?? 0, Math.ceil(1_000 / stage.values.slowRate));
      const gap = shortestGap([...slots]);
      if (gap < pace) violate(`two slots of ${id} are ${gap} ms apart, and not ${pace}`);
    }
  }

  /** A webhook stays slow for a minute after its slow attempts last reached their share; each relapse doubles that. */
  function judgeLeaving(id: string, changes: readonly Change[]): void {
    for (const { at, before, item } of changes) {
      if (before?.slowSince === undefined || item?.slowSince !== undefined) continue;
      if (at < Number(before.reachedAt) + holdAt(changes, at) - clockError)
        violate(`${id} left the slow lane too early`);
    }
  }

  /** No more are begun than keeps 60 under way, at the longest that is stored: none is much longer. A quick success ends the slowness. */
  function judgePace(id: string, changes: readonly Change[], attempts: readonly PacedAttempt[]): void {
    for (const { at, before, item } of changes) {
      if (item?.seriesInterval === undefined || item.nextSlotAt === before?.nextSlotAt) continue;
      const read = itemsWithin(changes, at - longestGivenUp, at).map(one => Number(one?.longestAttempt ?? 0));
      const pace = Math.min(...read) / mostUnderWay;
      if (Number(item.seriesInterval) * 1.1 < pace)
        violate(`${id} has a slot each ${item.seriesInterval} ms, and not ${pace}`);
    }
    for (const { at, record } of attempts) {
      const around = itemsWithin(changes, at - longestRead, at + longestRead);
      const isForgotten = around.every(
        item =>
          Date.parse(record.startedAt) > Number(item?.slowSince) &&
          record.durationMs > 1.1 * Number(item?.longestAttempt) + clockError,
      );
      if (isForgotten && record.result !== 'internal')
        violate(`${id} is paced without its attempt of ${record.durationMs} ms`);
      if (record.result !== 'delivered' || record.durationMs > slowAfter) continue;
      const isKept = around.every(
        item => Number(item?.slowSince) && Date.parse(record.startedAt) > Number(item?.reachedAt) + holdAt(changes, at),
      );
      if (isKept) violate(`${id} was quick again, and stays in the slow lane`);
    }
  }

  /** Returns the attempts that were made in slots, by slowness. */
  function readAttempts(): ReadonlyMap<string, readonly PacedAttempt[]> {
    const attempts = [...evidence().deliveries.values()].flatMap(changes =>
      changes.flatMap(({ at, delivery }, index) => {
        const before = changes[index - 1]?.delivery;
        const record = delivery?.attempts.at(-1);
        const isPaced = before?.wait?.slowLane === 'queued' && before.attempt === record?.number;
        return isPaced && delivery && record ? [{ id: slownessId(delivery), at, record }] : [];
      }),
    );
    return Map.groupBy(attempts, ({ id }) => id);
  }

  /** Returns the moments of all slots, by slowness and series. Resends and tests take none, and deleted accounts begin anew. */
  function readSlots(): ReadonlyMap<string, ReadonlySet<number>> {
    const slots = new Map<string, Set<number>>();
    for (const delivery of [...evidence().deliveries.values()].flat().map(change => change.delivery)) {
      if (delivery?.wait?.slotSeries === undefined || delivery.broughtForward || isTest(delivery)) continue;
      if (people.wasDeleted(delivery.accountId, 0)) continue;
      const name = `${slownessId(delivery)} ${delivery.wait.slotSeries}`;
      slots.set(name, (slots.get(name) ?? new Set()).add(delivery.wait.nextAttemptAt));
    }
    return slots;
  }

  /** Returns the shortest interval that a series had; `undefined` where none was stored. */
  function paceOf(id: string, series: number): number | undefined {
    const items = (watched.changesOf('Deliveries').get(`${id} ${headPart}`) ?? []).map(({ item }) => item);
    const intervals = items
      .filter(item => item?.slotSeries === series && item.seriesInterval !== undefined)
      .map(item => Number(item?.seriesInterval));
    return intervals.length > 0 ? Math.min(...intervals) : undefined;
  }
}

/** An attempt that was made in a slot, and the moment when it was stored. */
interface PacedAttempt {
  readonly at: number;
  readonly record: AttemptRecord;
}

/** Attempts at a slow webhook that are under way at once. */
const mostUnderWay = 60;

/** An attempt that lasts longer is slow. */
const slowAfter = 2 * second;

/** From the reading of a slowness before an attempt that is given up to the slot that it is repeated in: calls may be made three times. */
const longestGivenUp = 30 * second;

/** From the reading of a slowness to what was decided by it, in calm. */
const longestRead = 2 * second;

/** Returns for how long a webhook stays slow. */
function holdAt(changes: readonly Change[], at: number): number {
  const begun = changes.filter(one => one.at <= at && one.item?.slowSince && !one.before?.slowSince);
  return Math.min(minute * 2 ** (begun.length - 1), 60 * minute);
}

/** Returns the milliseconds between the two moments that are closest to each other. */
export function shortestGap(moments: readonly number[]): number {
  const sorted = moments.toSorted((one, other) => one - other);
  return Math.min(...sorted.slice(1).map((moment, index) => moment - (sorted[index] ?? 0)));
}
