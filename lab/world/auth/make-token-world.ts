import { makeVirtualCloud, type ProcessOutside } from '@emissor/virtual-cloud';
import { makeTables } from '@emissor/virtual-cloud/dynamodb/tables';
import { guardGlobals } from '@emissor/virtual-cloud/guarded-globals';
import { composeIntrospect } from '../../../lambdas/auth/endpoints/introspect.composition.ts';
import { composeRevoke } from '../../../lambdas/auth/endpoints/revoke.composition.ts';
import { composeToken } from '../../../lambdas/auth/endpoints/token.composition.ts';
import { makeRandom } from '../../../tools/support/random.ts';
import { tableDefinition, tableNames } from '../../../tools/support/tables.ts';
import type { FaultClass } from '../fault-classes.ts';
import { makeWorldOutside } from '../process-outside.ts';
import { makeReceivers } from '../receivers.ts';
import { minute } from '../times.ts';
import { makeMetrics } from '../world-telemetry.ts';
import { makeJournal } from './journal.ts';
import { makeOperators } from './operators.ts';
import { makePopulation } from './population.ts';
import { makeQuickDerivation } from './quick-derivation.ts';
import { makeScene } from './scene.ts';
import { makeTableHistory } from './table-history.ts';
import { tokenFaultsOf } from './token-faults.ts';
import { tokenFunctions } from './token-functions.ts';
import { makeTokenSetUp } from './token-set-up.ts';
import type { TokenCompositions, TokenOutside, TokenStage } from './token-stage.ts';

/** A world of tokens, and what may be looked at in it. */
export type TokenWorld = ReturnType<typeof makeTokenWorld>;

/**
 * Makes the token, revocation and introspection functions in virtual time, with clients, users and those who guess their passwords by
 * the seed. The globals of this program are guarded until `end`: only one world may live at a time.
 */
export function makeTokenWorld(
  seed: number,
  faultClass: FaultClass,
  compositions: TokenCompositions = { token: composeToken, revoke: composeRevoke, introspect: composeIntrospect },
) {
  const lag = makeRandom(seed * 31);
  const tables = makeTables({
    definitions: tableNames().map(name => ({ TableName: name, ...tableDefinition(name) })),
    now,
    indexLag: () => lag() * 300,
    translate: { marshallOptions: { removeUndefinedValues: true }, unmarshallOptions: { wrapNumbers: Number } },
  });
  const history = makeTableHistory(tables, now);
  const journal = makeJournal(history, now);
  const metrics = makeMetrics(now);
  const nobody = makeReceivers(seed, () => 0);
  const population = makePopulation();
  const stage: TokenStage = { compositions, journal, outsideOf, telemetryOf: metrics.telemetryOf };
  const isFine = new Set(['set-up', 'operators']);
  const cloud = makeVirtualCloud({
    seed,
    tables: () => history,
    functions: [
      ...tokenFunctions(stage),
      { name: 'operators', timeout: minute, start: process => makeOperators(outsideOf(process)) },
      { name: 'set-up', timeout: minute, start: process => makeTokenSetUp(outsideOf(process), population) },
    ],
    faults: {
      ...tokenFaultsOf(faultClass),
      fateOf: ({ functionName }) => (isFine.has(functionName) ? 'fine' : undefined),
    },
    costs: { coreShare: 1 },
  });
  const scene = makeScene({ cloud, journal, seed });
  const end = guardGlobals({
    current: cloud.currentProcess,
    isOwn: file => file.includes('/lambdas/'),
    writeLog: cloud.writeLog,
  });
  return { seed, cloud, tables, history, journal, metrics, population, scene, faultClass, begin, end };

  function now(): number {
    return cloud.now();
  }

  function outsideOf(process: ProcessOutside): TokenOutside {
    return { ...makeWorldOutside(process, nobody), keyDerivation: makeQuickDerivation(process) };
  }

  /** Makes the keys, clients and users. Returns the moment of the beginning. */
  async function begin(): Promise<number> {
    const { status } = await cloud.invoke('set-up', {});
    if (status !== 'answered') throw new Error(`The world could not be set up: ${status}.`);
    return cloud.now();
  }
}
