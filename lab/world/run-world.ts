import { runTokenSeed } from './auth/run-token-seed.ts';
import type { FaultClass } from './fault-classes.ts';
import { runSeed } from './run-seed.ts';
import type { Kind, WorldName, WorldResult } from './world-result.ts';

/** Runs a world. */
export function runWorld({ kind, seed, faultClass }: WorldName): Promise<WorldResult> {
  return runners[kind](seed, faultClass);
}

const runners: Readonly<Record<Kind, (seed: number, faultClass: FaultClass) => Promise<WorldResult>>> = {
  delivery: runSeed,
  tokens: runTokenSeed,
};
