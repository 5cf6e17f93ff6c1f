import { expect, test } from 'vitest';
import { faultClasses } from '../../world/fault-classes.ts';
import { runWorld } from '../../world/run-world.ts';
import { kinds } from '../../world/world-result.ts';

/**
 * Forty small worlds that every test run checks. `.ci/run` adds the seeds that detected faults, and seeds derived from the commit. The worlds
 * share one test file, because warming up a second process takes a third of the CPU time.
 */
const seeds = { delivery: [3, 15], tokens: [4, 5, 7, 8, 13, 14] };
const worlds = kinds.flatMap(kind =>
  faultClasses.flatMap(faultClass => seeds[kind].map(seed => ({ kind, seed, faultClass }))),
);

test.each(worlds)('World "$kind $seed" with the fault class "$faultClass" meets all guarantees', async name => {
  const { violations, requestCount, successCount } = await runWorld(name, false);
  expect(violations).toEqual([]);
  expect(successCount).toBeGreaterThan(Math.max(100, minSuccessShare[name.kind] * requestCount));
});

/** The minimum share of POSTed events and of granted requests. Most password guesses are rejected. */
const minSuccessShare = { delivery: 1 / 2, tokens: 1 / 3 };
