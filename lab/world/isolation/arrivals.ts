import type { Random } from '../../../tools/support/random.ts';
import type { Period } from './tenant.ts';

/** Returns the moments of one webhook's events. */
export type Publishes = (period: Period, random: Random) => number[];

/** Events that come independently of each other, so many a second. */
export function atRate(rate: number): Publishes {
  return ({ from, until }, random) => {
    const moments: number[] = [];
    for (let moment = from; ; ) {
      moment += (-Math.log(1 - random()) * 1_000) / rate;
      if (moment >= until) return moments;
      moments.push(moment);
    }
  };
}

/** So many events at the beginning. */
export function atOnce(events: number): Publishes {
  return ({ from }) => new Array(events).fill(from + 1);
}

/** So many events at the same moment, and again each time after so many milliseconds. */
export function burstsEvery(milliseconds: number, events = 1): Publishes {
  return ({ from, until }) =>
    Array.from({ length: Math.ceil((until - from) / milliseconds) }, (_, index) =>
      new Array<number>(events).fill(from + 1 + index * milliseconds),
    ).flat();
}
