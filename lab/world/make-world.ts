import { makeVirtualCloud } from '@emissor/virtual-cloud';
import { makeTables } from '@emissor/virtual-cloud/dynamodb/tables';
import { guardGlobals } from '@emissor/virtual-cloud/guarded-globals';
import { composeSweep } from '../../lambdas/delivery/sweeper/sweep.composition.ts';
import { composeDeliver } from '../../lambdas/delivery/worker/deliver.composition.ts';
import { makeRandom } from '../../tools/support/random.ts';
import { tableDefinition, tableNames } from '../../tools/support/tables.ts';
import { makeAccounts, makeArrival } from './arrival.ts';
import { type FaultClass, faultsOf } from './fault-classes.ts';
import { deliveryFunctions } from './functions/delivery.ts';
import { makeWorldOutside } from './process-outside.ts';
import { makeReceivers } from './receivers.ts';
import { makeSetUp } from './set-up.ts';
import { type Compositions, deadLetters, queueOf, type Stage, stageValuesOf, visibilityTimeout } from './stage.ts';
import { minute } from './times.ts';
import { makeMetrics } from './world-telemetry.ts';

/** A world, and what may be looked at in it. */
export type World = ReturnType<typeof makeWorld>;

/**
 * Makes the delivery of a stage in virtual time, by the product's own functions, with accounts, receivers and events by the seed.
 * The globals of this program are guarded until `end`: only one world may live at a time.
 */
export function makeWorld(
  seed: number,
  faultClass: FaultClass,
  compositions: Compositions = { deliver: composeDeliver, sweep: composeSweep },
) {
  const lag = makeRandom(seed * 31);
  const tables = makeTables({
    definitions: tableNames().map(name => ({ TableName: name, ...tableDefinition(name) })),
    now: () => cloud.now(),
    indexLag: () => lag() * 300,
    translate,
  });
  const isFine = new Set(['set-up']);
  const metrics = makeMetrics(() => cloud.now());
  const stage: Stage = {
    compositions,
    values: stageValuesOf(seed),
    outsideOf: process => makeWorldOutside(process, receivers),
    telemetryOf: metrics.telemetryOf,
  };
  const cloud = makeVirtualCloud({
    seed,
    tables: () => tables,
    queues: [
      ...Object.values(queueOf).map(name => ({ name, visibilityTimeout, deadLetters })),
      { name: deadLetters.queue },
    ],
    functions: [
      ...deliveryFunctions(stage),
      { name: 'set-up', timeout: minute, start: process => makeSetUp(stage.outsideOf(process), accounts) },
    ],
    faults: { ...faultsOf(faultClass), fateOf: ({ functionName }) => (isFine.has(functionName) ? 'fine' : undefined) },
  });
  const receivers = makeReceivers(seed, cloud.now);
  const accounts = makeAccounts();
  const publications = makeArrival(seed, accounts);
  const end = guardGlobals({
    current: cloud.currentProcess,
    isOwn: file => file.includes('/lambdas/'),
    writeLog: cloud.writeLog,
  });
  for (const { host, kind } of accounts) if (kind !== undefined) receivers.add(host, kind);
  return { cloud, tables, receivers, metrics, accounts, publications, faultClass, begin, end };

  /** Fills the tables, and plans the events. Returns the moment of the beginning. */
  async function begin(): Promise<number> {
    const { status } = await cloud.invoke('set-up', {});
    if (status !== 'answered') throw new Error(`The world could not be set up: ${status}.`);
    const began = cloud.now();
    for (const { at, account, body } of publications) {
      cloud.at(began + at, () => cloud.send(queueOf.first, { body, group: account }));
    }
    return began;
  }
}

/** As `makeDocumentClient` sets it. */
const translate = { marshallOptions: { removeUndefinedValues: true }, unmarshallOptions: { wrapNumbers: Number } };
