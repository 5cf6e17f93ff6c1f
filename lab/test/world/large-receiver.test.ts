import { expect, test } from 'vitest';
import { makeRecentCounts } from '../../../lambdas/delivery/lanes/recent-counts.ts';
import { isSlow, unknownSlowness, withSlowAttempts } from '../../../lambdas/delivery/lanes/slowness.ts';
import { makeRandom } from '../../../tools/support/random.ts';

test.each([
  [0.001, 'never', 2, (times: number) => times === 0],
  [0.2, 'often', 1, (times: number) => times > 10],
])(
  'With a slow-response share of %d, a large receiver is %s treated as slow in %i h.',
  (slowShare, _, hours, isExpected) => {
    expect(isExpected(timesSlow(slowShare, hours))).toBe(true);
  },
);

/** Counts how often a receiver of 100 events a second is treated as slow. Ten processes share its responses at random. */
function timesSlow(slowShare: number, hours: number): number {
  const random = makeRandom(1);
  const counts = Array.from({ length: 10 }, makeRecentCounts);
  let slowness = unknownSlowness;
  let times = 0;
  for (let event = 0; event < hours * 3_600 * 100; event++) {
    const now = event * 10;
    const process = counts[Math.floor(random() * counts.length)];
    if (random() >= slowShare) {
      process?.add('large', now);
      continue;
    }
    slowness = withSlowAttempts(slowness, { slow: 1, quick: process?.take('large', now) ?? 0 }, now);
    if (!isSlow(slowness)) continue;
    times += 1;
    slowness = unknownSlowness;
  }
  return times;
}
