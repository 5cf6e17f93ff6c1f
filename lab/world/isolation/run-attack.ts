import { makeRandom } from '../../../tools/support/random.ts';
import { attackOf, innocents } from './attacks.ts';
import type { Situation } from './plan.ts';
import { type Alter, type RunResult, runTenants } from './run-tenants.ts';

/** A run of innocents, next to an attack or alone. */
export interface IsolationRun {
  readonly situation: Situation;
  readonly seed: number;
  /** The name of an attack. */
  readonly attack?: string | undefined;
  /** Its duration, in milliseconds. */
  readonly length: number;
}

/** Runs innocents and attackers in a world without faults, by the seed. */
export function runAttack({ situation, seed, attack, length }: IsolationRun, alter?: Alter): Promise<RunResult> {
  const period = { from: situation.from, until: situation.from + length };
  const tried = attack === undefined ? undefined : attackOf(attack);
  const attackers = tried?.tenants(period, makeRandom(2_000 + seed)) ?? [];
  const tenants = [...innocents(period, makeRandom(seed)), ...attackers];
  return runTenants({ situation, seed: 1_000 + seed, period, tenants }, alter);
}
