import { makeVirtualCloud, type ProcessRuntime } from '@emissor/cloud/virtual';
import { composeIntrospect } from '../../../lambdas/auth/endpoints/introspect.composition.ts';
import { composeRevoke } from '../../../lambdas/auth/endpoints/revoke.composition.ts';
import { composeToken } from '../../../lambdas/auth/endpoints/token.composition.ts';
import { type FaultClass, tokenFaultsOf } from '../fault-classes.ts';
import { makeWorldRuntime } from '../process-runtime.ts';
import { makeReceivers } from '../receivers.ts';
import { minute } from '../times.ts';
import { watchTables } from '../watched-tables.ts';
import { makeServiceTables, setUp, withoutFaultsFor } from '../world-cloud.ts';
import { makeMetrics } from '../world-telemetry.ts';
import { makeActions } from './actions.ts';
import { makeJournal } from './journal.ts';
import { makeOperators, makeTokenSetUp } from './operators.ts';
import { makePopulation } from './population.ts';
import { makeQuickDerivation } from './quick-derivation.ts';
import { tokenFunctions } from './token-functions.ts';
import type { TokenCompositions, TokenRuntime, TokenStage } from './token-stage.ts';

/** A token world, with the state that invariants read. */
export type TokenWorld = ReturnType<typeof makeTokenWorld>;

/**
 * Creates a world with the token, revocation and introspection functions. The seed determines the users' actions and the
 * faults. The world captures the standard output of this process until `end`, so only one world may exist at a time.
 */
export function makeTokenWorld(
  seed: number,
  faultClass: FaultClass,
  compositions: Partial<TokenCompositions> = {},
  keepsDetails = true,
) {
  const tables = makeServiceTables(seed, now);
  const watched = watchTables(tables, now);
  const journal = makeJournal(now);
  const metrics = makeMetrics(now);
  const receivers = makeReceivers(seed, () => 0);
  const population = makePopulation();
  const stage: TokenStage = {
    compositions: { ...product, ...compositions },
    journal,
    runtimeOf,
    telemetryOf: metrics.telemetryOf,
  };
  const cloud = makeVirtualCloud({
    seed,
    keepsDetails,
    tables: () => watched,
    functions: [
      ...tokenFunctions(stage),
      { name: 'operators', timeout: minute, start: process => stage.compositions.operate(runtimeOf(process)) },
      { name: 'set-up', timeout: minute, start: process => makeTokenSetUp(runtimeOf(process), population) },
    ],
    faults: withoutFaultsFor(tokenFaultsOf(faultClass), ['set-up', 'operators']),
    costs: { coreShare: 1 },
  });
  const actions = makeActions({ cloud, journal, seed });
  const end = cloud.captureOutput();
  return { seed, cloud, tables, watched, journal, metrics, population, actions, faultClass, start, end };

  function now(): number {
    return cloud.now();
  }

  function runtimeOf(process: ProcessRuntime): TokenRuntime {
    return { ...makeWorldRuntime(process, receivers), keyDerivation: makeQuickDerivation(process) };
  }

  /** Fills the tables with the keys, clients and users. Returns the start time. */
  function start(): Promise<number> {
    return setUp(cloud);
  }
}

const product: TokenCompositions = {
  token: composeToken,
  revoke: composeRevoke,
  introspect: composeIntrospect,
  operate: makeOperators,
};
