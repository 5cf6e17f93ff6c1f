import { expect, it } from 'vitest';
import { makeProgress } from '../../../bin/ops/progress.ts';

/** What is written when a text is shown at each of these moments. */
const written = (isTTY: boolean, moments: readonly number[]): string[] => {
  const lines: string[] = [];
  let moment = 0;
  const output = { isTTY, write: (text: string) => lines.push(text) > 0 };
  const progress = makeProgress(output, () => moment);
  for (moment of moments) progress.show(`at ${moment}`);
  progress.clear();
  return lines;
};

it('leaves quick work alone', () => {
  for (const isTTY of [true, false]) expect(written(isTTY, [0, 500, 999])).toEqual([]);
});

it('is a line now and then where no terminal is', () => {
  expect(written(false, [0, 1_000, 2_000, 5_999, 6_000, 7_000])).toEqual(['at 1000\n', 'at 6000\n']);
});

it('is one line at a terminal, which is gone at the end', () => {
  const erase = '\r\u001b[K';
  expect(written(true, [0, 1_000, 1_500])).toEqual([`${erase}at 1000`, `${erase}at 1500`, erase]);
});
