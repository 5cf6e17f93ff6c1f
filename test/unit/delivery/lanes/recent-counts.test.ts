import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRecentCounts } from '../../../../lambdas/delivery/lanes/recent-counts.ts';
import { noon } from '../builders.ts';

describe('counts of the last minute', () => {
  it('are given once', () => {
    const counts = makeRecentCounts();
    for (let at = 0; at < 5; at++) counts.add('one', noon + at);
    counts.add('another', noon);
    expect(counts.take('one', noon + 5)).toBe(5);
    expect(counts.take('one', noon + 5)).toBe(0);
    expect(counts.take('another', noon + 5)).toBe(1);
    expect(counts.take('never', noon)).toBe(0);
  });

  it('hold what came less than 50 s ago, and nothing that came a minute ago', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200_000), { maxLength: 50 }), fc.nat(100_000), (times, later) => {
        const counts = makeRecentCounts();
        const all = times.toSorted((one, other) => one - other);
        for (const at of all) counts.add('one', noon + at);
        const now = (all.at(-1) ?? 0) + later;
        const count = counts.take('one', noon + now);
        expect(count).toBeGreaterThanOrEqual(all.filter(at => now - at <= 50_000).length);
        expect(count).toBeLessThanOrEqual(all.filter(at => now - at < 60_000).length);
      }),
    );
  });

  it('forget the key that was counted first, once there are ten thousand others', () => {
    const counts = makeRecentCounts();
    for (let key = 0; key <= 10_000; key++) counts.add(`key-${key}`, noon);
    expect(counts.take('key-0', noon)).toBe(0);
    expect(counts.take('key-1', noon)).toBe(1);
    expect(counts.take('key-10000', noon)).toBe(1);
  });
});
