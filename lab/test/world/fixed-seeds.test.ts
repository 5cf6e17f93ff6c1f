import { expect, test } from 'vitest';
import { faultClasses } from '../../world/fault-classes.ts';
import { runWorld } from '../../world/run-world.ts';
import { kinds } from '../../world/world-result.ts';

/**
 * In all forty small worlds, the same for every change. `.ci/run` adds all that found a fault, and others that the files of the change
 * choose. They stand in one file: a second process would have to warm up, which takes a third of the processor time.
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

/** The share of events that are POSTed at least, and of requests that are granted: guessers and locks have theirs refused. */
const leastDone = { delivery: 1 / 2, tokens: 1 / 3 };
