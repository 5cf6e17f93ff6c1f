import { expect, test } from 'vitest';
import { faultClasses } from '../../world/fault-classes.ts';
import { readFoundSeeds } from '../../world/gate.ts';
import { runSeed } from '../../world/run-seed.ts';

/** The same for every change. `.ci/run` adds three hundred of the change's own, and each night brings new ones. */
const fixed = faultClasses.flatMap(faultClass =>
  Array.from({ length: 8 }, (_, seed) => ({ seed: seed + 1, faultClass })),
);

test.each([...fixed, ...readFoundSeeds()])(
  'Every promise is kept in world $seed with the faults $faultClass.',
  async each => {
    const { violations, events, posts } = await runSeed(each.seed, each.faultClass);
    expect(violations).toEqual([]);
    expect(posts).toBeGreaterThan(events / 2);
  },
);
