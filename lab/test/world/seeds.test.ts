import { beforeAll, expect, test } from 'vitest';
import { faultClasses } from '../../world/fault-classes.ts';
import { readFoundSeeds } from '../../world/gate.ts';
import type { Kind, WorldName } from '../../world/kinds.ts';
import { runSeeds, type SeedReport } from '../../world/run-seeds.ts';

/** The same for every change: forty. `.ci/run` adds three hundred of the change's own, and each night brings new ones. */
const fixed = [...seedsOf('delivery', 1), ...seedsOf('tokens', 7)];
const worlds = [...fixed, ...readFoundSeeds()].map((name, index) => ({ index, ...name }));
let reports: readonly SeedReport[];

beforeAll(async () => {
  reports = await runSeeds(worlds, () => {});
}, 300_000);

test.each(worlds)('Every promise is kept in the world of $kind $seed with the faults $faultClass', ({ index }) => {
  const { violations, asked = 0, done } = reports[index] ?? {};
  expect(violations).toEqual([]);
  expect(asked).toBeGreaterThan(100);
  expect(done).toBeGreaterThan(asked / 3);
});

function seedsOf(kind: Kind, count: number): WorldName[] {
  return faultClasses.flatMap(faultClass =>
    Array.from({ length: count }, (_, index) => ({ kind, seed: index + 1, faultClass })),
  );
}
