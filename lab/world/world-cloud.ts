import { makeTables, type Tables } from '@emissor/cloud/dynamodb/tables';
import type { FaultPlan, VirtualCloud } from '@emissor/cloud/virtual';
import { makeRandom } from '../../tools/support/random.ts';
import { tableDefinition, tableNames } from '../../tools/support/tables.ts';

/** Creates the tables of the service. An index, and an inconsistent read, lags by up to `maxLag` milliseconds, by the seed. */
export function makeServiceTables(seed: number, now: () => number, maxLag = 300): Tables {
  const lag = makeRandom(seed * 31);
  return makeTables({
    definitions: tableNames().map(name => ({ TableName: name, ...tableDefinition(name) })),
    now,
    lag: () => lag() * maxLag,
  });
}

/** Returns a plan without faults for the calls of these functions. */
export function sparing(plan: FaultPlan, names: readonly string[]): FaultPlan {
  return { ...plan, fateOf: call => (names.includes(call.functionName) ? 'fine' : plan.fateOf?.(call)) };
}

/** Calls the function `set-up` to fill the tables. Returns the start time. */
export async function setUp(cloud: VirtualCloud): Promise<number> {
  const { status } = await cloud.invoke('set-up', {});
  if (status !== 'answered') throw new Error(`The world could not be set up: ${status}.`);
  return cloud.now();
}
