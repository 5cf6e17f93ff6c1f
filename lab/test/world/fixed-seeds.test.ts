import { expect, test } from 'vitest';
import { faultClasses } from '../../world/fault-classes.ts';
import { runWorld } from '../../world/run-world.ts';
import { kinds } from '../../world/world-result.ts';

/**
 * The same forty small worlds for every change. `.ci/run` adds the seeds that found faults, and others that depend on the changed files.
 * They share one file, because warming up a second process takes a third of the CPU time.
 */
const seeds = { delivery: [3, 15], tokens: [4, 5, 7, 8, 13, 14] };
const fixed = kinds.flatMap(kind =>
  faultClasses.flatMap(faultClass => seeds[kind].map(seed => ({ kind, seed, faultClass }))),
);

test.each(fixed)('Every promise is kept in the world of $kind $seed with the faults $faultClass', async name => {
  const { violations, asked, done } = await runWorld(name, false);
  expect(violations).toEqual([]);
  expect(done).toBeGreaterThan(Math.max(100, leastDone[name.kind] * asked));
});

/** The minimum share of events that are POSTed, and of requests that are granted: guessers are refused. */
const leastDone = { delivery: 1 / 2, tokens: 1 / 3 };
