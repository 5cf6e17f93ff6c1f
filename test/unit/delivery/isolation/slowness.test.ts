import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRecentCounts } from '../../../../lambdas/delivery/isolation/recent-counts.ts';
import {
  countsStill,
  isSlow,
  mayRecover,
  recovered,
  type Slots,
  type Slowness,
  slotInterval,
  takeSlots,
  unknownSlowness,
  withDuration,
  withSlowAttempts,
  withSlowDns,
} from '../../../../lambdas/delivery/isolation/slowness.ts';
import { noon } from '../builders.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Slow attempts, each with quick ones beside it, at these times, in milliseconds after noon. */
const noting = (...noted: readonly [at: number, slow: number, quick: number][]): Slowness =>
  noted.reduce(
    (slowness, [at, slow, quick]) => withSlowAttempts(slowness, { slow, quick }, noon + at),
    unknownSlowness,
  );

describe('a webhook is made slow', () => {
  it.each<[string, boolean, Slowness]>([
    ['not by one slow attempt', false, noting([0, 1, 0])],
    ['by two at once', true, noting([0, 2, 0])],
    ['by two within 60 s', true, noting([0, 1, 0], [minute - 1, 1, 0])],
    ['not by two that are 60 s apart', false, noting([0, 1, 0], [minute, 1, 0])],
    [
      'not by one slow attempt in each of ten minutes',
      false,
      noting(...[...Array(10).keys()].map(at => [at * minute, 1, 0] as [number, number, number])),
    ],
    ['by two where they are a tenth of all', true, noting([0, 1, 9], [second, 1, 9])],
    ['not by two where they are less', false, noting([0, 1, 9], [second, 1, 10])],
    ['by 29 where they are a tenth', true, noting([0, 29, 261])],
    ['not by 29 where they are less', false, noting([0, 29, 262])],
    ['by 30 whatever their share', true, noting([0, 30, 1_000_000])],
    ['by 30 in several records', true, noting([0, 10, 10_000], [20 * second, 10, 10_000], [59 * second, 10, 10_000])],
    ['not by 30 in more than 60 s', false, noting([0, 10, 10_000], [30 * second, 10, 10_000], [minute, 10, 10_000])],
    [
      'by two slow ones when the quick ones are more than 60 s ago',
      true,
      noting([0, 1, 1_000], [minute, 1, 0], [minute + 1, 1, 0]),
    ],
    ['by one name that resolves slowly', true, withSlowDns(unknownSlowness, noon)],
  ])('%s', (_, expected, slowness) => {
    expect(isSlow(slowness)).toBe(expected);
  });

  // Several processes make its attempts, each of which counts quick ones of its own.
  it.each([
    ['one process', 1],
    ['three processes', 3],
    ['twenty processes', 20],
  ])('not where it is large and healthy: 100 a second, 0.1 % of them slow, over %s', (_, processes) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 - 2 }), seed => {
        let state = seed;
        const random = () => {
          state = (state * 48_271) % 2_147_483_647; // a minimal standard generator: a million draws are quick
          return state / 2_147_483_647;
        };
        const counts = Array.from({ length: processes }, makeRecentCounts);
        let slowness = unknownSlowness;
        let slow = 0;
        // It was healthy for a minute before: what a process that has just begun finds is in the next test.
        for (let at = 0; at < 10 * minute; at += 10) {
          const own = counts[Math.floor(random() * processes)];
          if (at < minute || random() >= 0.001) own?.add('webhook', noon + at);
          else {
            slow += 1;
            slowness = withSlowAttempts(slowness, { slow: 1, quick: own?.take('webhook', noon + at) ?? 0 }, noon + at);
          }
          if (isSlow(slowness)) return false;
        }
        return slow > 0;
      }),
      { numRuns: 20 },
    );
  });
});

describe('a slow webhook', () => {
  const slow = withSlowDns(unknownSlowness, noon);

  it.each([
    ['not before 60 s are over since the share was last reached', slow, minute - 1, false],
    ['from then on', slow, minute, true],
    [
      'not when its share was reached again meanwhile',
      withSlowAttempts(slow, { slow: 2, quick: 0 }, noon + 30 * second),
      minute,
      false,
    ],
    ['60 s after that', withSlowAttempts(slow, { slow: 2, quick: 0 }, noon + 30 * second), 90 * second, true],
    ['not when another name was slow meanwhile', withSlowDns(slow, noon + 59 * second), 118 * second, false],
    [
      'where one slow attempt came meanwhile, which is no share',
      withSlowAttempts(slow, { slow: 1, quick: 99 }, noon + 59 * second),
      minute,
      true,
    ],
  ])('is quick again by a quick success: %s', (_, slowness, at, expected) => {
    expect(mayRecover(slowness, noon + at)).toBe(expected);
  });

  it('does not need to be made quick again when it is not slow', () => {
    expect(mayRecover(unknownSlowness, noon)).toBe(false);
    expect(mayRecover(recovered(slow, noon + minute), noon + day)).toBe(false);
  });

  it('begins anew when it is quick again: what was counted counts no more', () => {
    const quick = recovered(noting([0, 30, 0]), noon + minute - 1);
    expect(isSlow(quick)).toBe(false);
    expect(isSlow(withSlowAttempts(quick, { slow: 1, quick: 0 }, noon + minute - 1))).toBe(false);
    expect(isSlow(withSlowAttempts(quick, { slow: 2, quick: 0 }, noon + minute - 1))).toBe(true);
  });

  it('keeps the moment since when it is slow', () => {
    expect(withSlowDns(slow, noon + minute)).toMatchObject({ slowSince: noon, reachedAt: noon + minute });
  });

  it('is held down for longer with each relapse within a day, up to an hour, and for 60 s again after a day', () => {
    let slowness = slow;
    let now = noon;
    const holds: number[] = [];
    for (let relapse = 0; relapse < 9; relapse++) {
      holds.push((slowness.hold ?? 0) / minute);
      now += slowness.hold ?? 0;
      expect(mayRecover(slowness, now - 1)).toBe(false);
      expect(mayRecover(slowness, now)).toBe(true);
      slowness = recovered(slowness, now);
      now += day - 1;
      slowness = withSlowDns(slowness, now);
    }
    expect(holds).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    const quick = recovered(slowness, now);
    expect(withSlowDns(quick, now + day).hold).toBe(minute);
  });
});

describe('the slots of a slow webhook', () => {
  it.each([
    ['unknown', undefined, 50],
    ['2 s', 2 * second, 50],
    ['3 s', 3 * second, 50],
    ['6 s', 6 * second, 100],
    ['15 s', 15 * second, 250],
  ])('are 20 a second, and no more than 60 at once where an attempt takes: %s', (_, longestAttempt, expected) => {
    expect(slotInterval({ ...unknownSlowness, longestAttempt }, 20)).toBe(expected);
  });

  // A burst at a webhook that had just become slow had 300 attempts in flight instead of 60.
  it.each([
    unknownSlowness,
    { ...unknownSlowness, longestAttempt: 100, measuredAt: noon - minute, endedAt: noon - hour },
  ])('are those of one that hangs, until the first attempt of the new slowness was measured', before => {
    const slow = withSlowDns(before, noon);
    expect(slotInterval(slow, 20)).toBe(250);
    const measured = withDuration(slow, 3 * second, noon + second) ?? slow;
    expect(slotInterval(measured, 20)).toBe(50);
  });

  // The table adds in decimal: slots that were not whole were never equal to what the sweeper had read, and it gave none any more.
  it('are whole milliseconds apart, however long attempts take', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 1_000 }), (longestAttempt, rate) =>
        Number.isInteger(slotInterval({ ...unknownSlowness, longestAttempt }, rate)),
      ),
    );
  });

  it('are fewer where the stage says so', () => {
    expect(slotInterval(unknownSlowness, 2)).toBe(500);
  });

  it.each([
    ['now, where none is taken', 0, noon],
    ['now, where the last one is over', noon - 1, noon],
    ['after those that are taken', noon + 7, noon + 7],
    ['a minute from now at most', noon + minute, noon + minute],
    ['not beyond that', noon + minute + 1, undefined],
  ])('are given out: %s', (_, nextSlotAt, at) => {
    const taken = takeSlots({ nextSlotAt, slotSeries: 3, seriesInterval: 250 }, 2, 250, noon);
    expect(taken).toEqual(at && { firstAt: at, after: { nextSlotAt: at + 500, slotSeries: 3, seriesInterval: 250 } });
  });

  const far = { nextSlotAt: noon + minute, slotSeries: 3, seriesInterval: 100 };
  it.each([
    ['a slower one: a new series, from now on', 250, noon, { slotSeries: 4, seriesInterval: 250 }],
    ['one that is slower by up to a tenth: the same', 110, noon + minute, { slotSeries: 3, seriesInterval: 100 }],
    ['by more', 111, noon, { slotSeries: 4, seriesInterval: 111 }],
    ['a quicker one: after those that are taken', 50, noon + minute, { slotSeries: 3, seriesInterval: 50 }],
  ])('at another pace are: %s', (_, interval, firstAt, series) => {
    const taken = takeSlots(far, 10, interval, noon);
    expect(taken).toEqual({ firstAt, after: { ...series, nextSlotAt: firstAt + 10 * interval } });
    const isSame = series.slotSeries === far.slotSeries;
    expect(countsStill(far, 3, interval)).toBe(isSame);
    if (taken) expect([3, 4].filter(number => countsStill(taken.after, number, interval))).toEqual([isSame ? 3 : 4]);
  });

  it('of one series are spaced by its interval or more, whenever they are taken, and those of an earlier one count no more', () => {
    const step = fc.record({
      pause: fc.nat(2_000),
      interval: fc.integer({ min: 1, max: 1_000 }),
      count: fc.integer({ min: 1, max: 10 }),
    });
    fc.assert(
      fc.property(fc.array(step), steps => {
        let now = noon;
        let slots: Slots = { nextSlotAt: 0, slotSeries: 0 };
        let last = { at: Number.NEGATIVE_INFINITY, interval: 0 };
        for (const { pause, interval, count } of steps) {
          now += pause;
          const taken = takeSlots(slots, count, interval, now);
          if (!taken) continue;
          const { firstAt, after } = taken;
          const begins = after.slotSeries !== slots.slotSeries;
          expect(firstAt).toBeGreaterThanOrEqual(begins ? now : Math.max(now, last.at + last.interval));
          expect(firstAt - now).toBeLessThanOrEqual(minute);
          expect(interval * 10).toBeLessThanOrEqual((after.seriesInterval ?? 0) * 11);
          expect(countsStill(after, slots.slotSeries, interval)).toBe(!begins);
          last = { at: firstAt + (count - 1) * interval, interval };
          slots = after;
        }
      }),
    );
  });
});

describe('how long attempts take', () => {
  const known: Slowness = { ...unknownSlowness, longestAttempt: 10_000, measuredAt: noon };

  it.each([
    ['the first', unknownSlowness, 3, 0, 3],
    ['a longer one', known, 11_001, 1, 11_001],
    ['one that is hardly longer: nothing is written', known, 11_000, 1, undefined],
    ['a shorter one: nothing is written', known, 9_999, minute - 1, undefined],
    ['one as long, half a minute later', known, 10_000, minute / 2, 10_000],
    ['a shorter one, after a minute', known, 50, minute, 50],
  ])('is recorded: %s', (_, slowness, duration, at, expected) => {
    const noted = withDuration(slowness, duration, noon + at);
    expect(noted?.longestAttempt).toBe(expected);
    if (noted) expect(noted.measuredAt).toBe(noon + at);
  });
});

describe('whatever is recorded', () => {
  const step = fc.record({
    wait: fc.nat(30_000),
    slow: fc.nat(4),
    quick: fc.nat(60),
    succeeds: fc.boolean(),
  });

  it('tallies stay few, nobody is slow below the share, and the hold only grows while relapses go on', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        let now = noon;
        let slowness = unknownSlowness;
        let hold = 0;
        const noted: { at: number; slow: number; quick: number }[] = [];
        for (const { wait, slow, quick, succeeds } of steps) {
          now += wait;
          const before = slowness;
          noted.push({ at: now, slow, quick });
          slowness = withSlowAttempts(slowness, { slow, quick }, now);
          expect(slowness.tallies.length).toBeLessThanOrEqual(13);
          if (isSlow(slowness) && !isSlow(before)) {
            const recent = noted.filter(({ at }) => now - at < minute);
            const all = recent.reduce((sum, one) => sum + one.slow, 0);
            expect(all).toBeGreaterThanOrEqual(2);
            expect(slowness.hold ?? 0).toBeGreaterThanOrEqual(hold);
            expect(slowness.hold ?? 0).toBeLessThanOrEqual(hour);
            hold = slowness.hold ?? 0;
          }
          if (isSlow(before)) expect(slowness.reachedAt ?? 0).toBeGreaterThanOrEqual(before.reachedAt ?? 0);
          if (succeeds && mayRecover(slowness, now)) {
            expect(now - (slowness.reachedAt ?? 0)).toBeGreaterThanOrEqual(minute);
            slowness = recovered(slowness, now);
            noted.length = 0;
          }
        }
      }),
    );
  });

  it('fewer than a tenth, and than 30, never make anybody slow', () => {
    const busy = fc.record({ wait: fc.nat(30_000), slow: fc.constant(1), quick: fc.integer({ min: 10, max: 50 }) });
    fc.assert(
      fc.property(fc.array(busy, { maxLength: 29 }), steps => {
        let now = noon;
        let slowness = unknownSlowness;
        for (const { wait, ...added } of steps) {
          now += wait;
          slowness = withSlowAttempts(slowness, added, now);
          expect(isSlow(slowness)).toBe(false);
        }
      }),
    );
  });
});
