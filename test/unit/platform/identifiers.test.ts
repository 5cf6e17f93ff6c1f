import { expect, it } from 'vitest';
import { randomId } from '../../../lambdas/platform/identifiers.ts';

it.each([0, 1, 22, 43, 500])('an identifier of length %i consists of letters and digits', length => {
  expect(randomId(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
});

it('an identifier is not returned twice', () => {
  expect(new Set(Array.from({ length: 1_000 }, () => randomId(22))).size).toBe(1_000);
});

it('all characters of an identifier are equally frequent', () => {
  const counts = new Map<string, number>();
  for (const letter of randomId(62_000)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // 1,000 each on average: seven standard deviations either way
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(7 * Math.sqrt(1_000));
});
