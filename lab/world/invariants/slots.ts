import { isTest } from '../../../lambdas/delivery/delivery.ts';
import { slownessId } from '../../../lambdas/delivery/isolation/slow-since.ts';
import { headPart } from '../../../lambdas/delivery/store/head-key.ts';
import type { World } from '../make-world.ts';
import type { Evidence } from './evidence.ts';
import type { Judgement, Violate } from './violation.ts';

/** Judges the slots of slow webhooks: those of a series are as far apart as its pace says. */
export function judgeSlots({ watched, people, stage }: World, evidence: () => Evidence, violate: Violate): Judgement {
  return { judgeEnd };

  function judgeEnd(): void {
    for (const [name, slots] of readSlots()) {
      const [id = '', series] = name.split(' ');
      const own = paceOf(id, Number(series));
      if (own === undefined) violate(`a slot of ${id} is of a series that has no pace`);
      const pace = Math.max(own ?? 0, Math.ceil(1_000 / stage.values.slowRate));
      const gap = shortestGap([...slots]);
      if (gap < pace) violate(`two slots of ${id} are ${gap} ms apart, and not ${pace}`);
    }
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

/** Returns the milliseconds between the two moments that are closest to each other. */
export function shortestGap(moments: readonly number[]): number {
  const sorted = moments.toSorted((one, other) => one - other);
  return Math.min(...sorted.slice(1).map((moment, index) => moment - (sorted[index] ?? 0)));
}
