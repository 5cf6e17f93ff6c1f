import { makeTables, type Tables } from '@emissor/cloud/dynamodb/tables';
import type { FaultPlan, VirtualCloud } from '@emissor/cloud/virtual';
import { makeRandom } from '../../tools/support/random.ts';
import { tableDefinition, tableNames } from '../../tools/support/tables.ts';

/**
 * Makes the tables of the service. An index, and a reading that need not be consistent, sees a write up to `mostLag` milliseconds late, by the seed.
 */
export function makeServiceTables(seed: number, now: () => number, maxLag = 300): Tables {
  const lag = makeRandom(seed * 31);
  return makeTables({
    definitions: tableNames().map(name => ({ TableName: name, ...tableDefinition(name) })),
    now,
    lag: () => lag() * maxLag,
  });
}

/** Returns a plan by which nothing goes wrong with the calls of functions of these names. */
export function sparing(plan: FaultPlan, names: readonly string[]): FaultPlan {
  return { ...plan, fateOf: call => (names.includes(call.functionName) ? 'fine' : plan.fateOf?.(call)) };
}

/** Has the function `set-up` fill the tables. Returns the moment of the beginning. */
export async function setUp(cloud: VirtualCloud): Promise<number> {
  const { status } = await cloud.invoke('set-up', {});
  if (status !== 'answered') throw new Error(`The world could not be set up: ${status}.`);
  return cloud.now();
}
