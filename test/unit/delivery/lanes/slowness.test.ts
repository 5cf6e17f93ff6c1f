import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRecentCounts } from '../../../../lambdas/delivery/lanes/recent-counts.ts';
import {
  isSlow,
  mayRecover,
  recovered,
  type Slowness,
  unknownSlowness,
  withSlowAttempts,
} from '../../../../lambdas/delivery/lanes/slowness.ts';
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

const slowedAt = (before: Slowness, at: number) => withSlowAttempts(before, { slow: 2, quick: 0 }, at);

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
    ['by a tenth in several records', true, noting([0, 10, 90], [20 * second, 10, 90], [59 * second, 10, 90])],
    [
      'by two slow ones when the quick ones are more than 60 s ago',
      true,
      noting([0, 1, 1_000], [minute, 1, 0], [minute + 1, 1, 0]),
    ],
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
  const slow = slowedAt(unknownSlowness, noon);

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
    [
      'where one slow attempt came meanwhile, which is no share',
      withSlowAttempts(slow, { slow: 1, quick: 99 }, noon + 59 * second),
      minute,
      true,
    ],
  ])('is quick again by a quick answer: %s', (_, slowness, at, expected) => {
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
    expect(slowedAt(slow, noon + minute)).toMatchObject({ slowSince: noon, reachedAt: noon + minute });
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
      slowness = slowedAt(slowness, now);
    }
    expect(holds).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    const quick = recovered(slowness, now);
    expect(slowedAt(quick, now + day).hold).toBe(minute);
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

  it('fewer than a tenth never make anybody slow', () => {
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
