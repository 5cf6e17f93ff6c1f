import { expect, it } from 'vitest';
import { randomId } from '../../../lambdas/platform/identifiers.ts';

it.each([0, 1, 22, 43, 500])('an identifier of length %i consists of letters and digits', length => {
  expect(randomId(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
});

it('identifiers are unique', () => {
  expect(new Set(Array.from({ length: 1_000 }, () => randomId(22))).size).toBe(1_000);
});

it('all characters are equally frequent in identifiers', () => {
  const counts = new Map<string, number>();
  for (const letter of randomId(62_000)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  expect(counts.size).toBe(62);
  // about 1,000 of each character, within seven standard deviations
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(7 * Math.sqrt(1_000));
});
