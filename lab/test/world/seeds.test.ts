import { expect, test } from 'vitest';
import { faultClasses } from '../../world/fault-classes.ts';
import { readFoundSeeds } from '../../world/gate.ts';
import { kinds, runWorld } from '../../world/kinds.ts';

/** The same for every change. `.ci/run` adds three hundred of the change's own, and each night brings new ones. */
const fixed = kinds.flatMap(kind =>
  faultClasses.flatMap(faultClass => [1, 2, 3, 4].map(seed => ({ kind, seed, faultClass }))),
);

test.each([...fixed, ...readFoundSeeds()])(
  'Every promise is kept in the world of $kind $seed with the faults $faultClass',
  async name => {
    const { violations, asked, done } = await runWorld(name);
    expect(violations).toEqual([]);
    expect(asked).toBeGreaterThan(100);
    expect(done).toBeGreaterThan(asked / 3);
  },
);
