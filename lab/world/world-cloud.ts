import { makeTables, type Tables } from '@emissor/cloud/dynamodb/tables';
import type { FaultPlan, VirtualCloud } from '@emissor/cloud/virtual';
import { makeRandom } from '../../tools/support/random.ts';
import { tableDefinition, tableNames } from '../../tools/support/tables.ts';

/** Creates the service's tables. Indexes and eventually consistent reads lag by up to `maxLag` milliseconds, depending on the seed. */
export function makeServiceTables(seed: number, now: () => number, maxLag = 300): Tables {
  const lag = makeRandom(seed * 31);
  return makeTables({
    definitions: tableNames().map(name => ({ TableName: name, ...tableDefinition(name) })),
    now,
    lag: () => lag() * maxLag,
  });
}

/** Returns a fault plan that excludes the calls of the functions in `names`. */
export function withoutFaultsFor(plan: FaultPlan, names: readonly string[]): FaultPlan {
  return { ...plan, outcomeOf: call => (names.includes(call.functionName) ? 'fine' : plan.outcomeOf?.(call)) };
}

/** Invokes the function `set-up`, which fills the tables. Returns the start time. */
export async function setUp(cloud: VirtualCloud): Promise<number> {
  const { status } = await cloud.invoke('set-up', {});
  if (status !== 'returned') throw new Error(`Could not set up the world (${status}).`);
  return cloud.now();
}
