import { aboutSixty } from './bounds.ts';

/** Makes what counts the attempts that are under way at each receiver at once. Times in milliseconds. */
export function makeCrowds(now: () => number) {
  const crowds = new Map<string, Crowd>();
  let most = 0;
  return { enter, leave, most: () => most, manyFor };

  function enter(host: string): void {
    const crowd = crowds.get(host) ?? { count: 0, manySince: undefined, manyFor: 0 };
    crowds.set(host, crowd);
    crowd.count += 1;
    most = Math.max(most, crowd.count);
    if (crowd.count > aboutSixty) crowd.manySince ??= now();
  }

  function leave(host: string): void {
    const crowd = crowds.get(host);
    if (!crowd) return;
    crowd.count -= 1;
    if (crowd.count > aboutSixty || crowd.manySince === undefined) return;
    crowd.manyFor += now() - crowd.manySince;
    crowd.manySince = undefined;
  }

  /** Returns for how long there were more than about sixty at the one that had them longest. */
  function manyFor(): number {
    return Math.max(0, ...[...crowds.values()].map(crowd => crowd.manyFor + now() - (crowd.manySince ?? now())));
  }
}

interface Crowd {
  count: number;
  manySince: number | undefined;
  manyFor: number;
}
