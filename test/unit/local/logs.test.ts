import { expect, it } from 'vitest';
import { makeLogStore } from '../../../local/logs.ts';

it('keeps the latest lines of each group, and from which moment on they are complete', () => {
  let moment = 0;
  const kept = makeLogStore(2, () => moment);
  for (moment = 1; moment <= 5; moment += 1) kept.put('busy', `line ${moment}`);
  expect(kept.find(['busy'], 'line', 0, 9).map(({ text }) => text)).toEqual(['line 5', 'line 4']);
  expect([kept.since('busy'), kept.since('quiet')]).toEqual([4, 0]);
  expect(kept.find(['busy'], 'line', 5, 5)).toHaveLength(1);
});
