import { describe, expect, it } from 'vitest';
import { median, percentilesOf, rotated } from '../../../../tools/support/statistics.ts';

describe('statistics', () => {
  it('are medians, and the times that half, 95 % and 99 % do not exceed', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    const times = Array.from({ length: 200 }, (_, index) => index + 1);
    expect(percentilesOf(times)).toEqual({ p50: 100, p95: 190, p99: 198 });
    expect(percentilesOf([7])).toEqual({ p50: 7, p95: 7, p99: 7 });
  });

  it('start each round with another value', () => {
    expect([0, 1, 2, 3].map(round => rotated(['a', 'b', 'c'], round).join(''))).toEqual(['abc', 'bca', 'cab', 'abc']);
  });
});
