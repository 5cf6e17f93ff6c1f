import { makeRandom } from '../../../tools/support/random.ts';
import { attackOf, healthyAccounts } from './attacks.ts';
import type { Situation } from './plan.ts';
import { type Alter, type RunResult, runTenants } from './run-tenants.ts';

/** A run of the healthy accounts, with an attack or alone. */
export interface IsolationRun {
  readonly situation: Situation;
  readonly seed: number;
  /** The name of the attack, or `undefined` for a run without an attack. */
  readonly attack?: string | undefined;
  /** The duration of the measured period, in milliseconds. */
  readonly length: number;
}

/** Runs the healthy accounts, and the attackers if any, in a world without faults. */
export function runAttack({ situation, seed, attack, length }: IsolationRun, alter?: Alter): Promise<RunResult> {
  const period = { from: situation.from, until: situation.from + length };
  const selected = attack === undefined ? undefined : attackOf(attack);
  const attackers = selected?.tenants(period, makeRandom(2_000 + seed)) ?? [];
  const tenants = [...healthyAccounts(period, makeRandom(seed)), ...attackers];
  return runTenants({ situation, seed: 1_000 + seed, period, tenants }, alter);
}
