import { expect, test } from 'vitest';
import { faultClasses } from '../../world/fault-classes.ts';
import { runWorld } from '../../world/run-world.ts';
import type { Kind } from '../../world/world-result.ts';

/**
 * Tests that every promise is kept in the worlds of some seeds with each class of faults: in all, forty small ones, the same for every
 * change. `.ci/run` adds all that found a fault and a hundred of the change's own.
 */
export function testWorlds(kind: Kind, seeds: readonly number[]): void {
  const fixed = faultClasses.flatMap(faultClass => seeds.map(seed => ({ kind, seed, faultClass })));
  test.each(fixed)('Every promise is kept in the world of $kind $seed with the faults $faultClass', async name => {
    const { violations, asked, done } = await runWorld(name);
    expect(violations).toEqual([]);
    expect(done).toBeGreaterThan(Math.max(100, leastDone[name.kind] * asked));
  });
}

/** The share of events that are POSTed at least, and of requests that are granted: guessers and locks have theirs refused. */
const leastDone: Readonly<Record<Kind, number>> = { delivery: 1 / 2, tokens: 1 / 3 };
