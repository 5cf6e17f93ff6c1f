import type { Happening } from '@emissor/virtual-cloud';
import { runTokenSeed } from './auth/run-token-seed.ts';
import type { FaultClass } from './fault-classes.ts';
import { runSeed } from './run-seed.ts';
import type { Kind, WorldName, WorldResult } from './world-result.ts';

/** Runs a world. */
export function runWorld({ kind, seed, faultClass }: WorldName): Promise<WorldResult> {
  return runners[kind](seed, faultClass);
}

/** A world to run. */
export interface SeedJob extends WorldName {
  /** The id of the delivery, request or session to trace, if not that of the first broken promise. */
  readonly trace?: string | undefined;
}

/** What became of it. */
export interface SeedReport extends Omit<WorldResult, 'trace'> {
  /** The id of what the trace is about, if there is one. */
  readonly traced: string | undefined;
  readonly trace: readonly Happening[];
}

/** Runs a world, and reports what can be sent from one thread to another. */
export async function reportWorld({ trace, ...name }: SeedJob): Promise<SeedReport> {
  const { trace: traceOf, ...figures } = await runWorld(name);
  const traced = trace ?? figures.violations.find(({ about }) => about !== undefined)?.about;
  return { ...figures, traced, trace: traced === undefined ? [] : traceOf(traced) };
}

const runners: Readonly<Record<Kind, (seed: number, faultClass: FaultClass) => Promise<WorldResult>>> = {
  delivery: runSeed,
  tokens: runTokenSeed,
};
