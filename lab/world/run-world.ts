import type { RecordedEvent } from '@emissor/cloud/virtual';
import { runTokenSeed } from './auth/run-token-seed.ts';
import type { FaultClass } from './fault-classes.ts';
import { runSeed } from './run-seed.ts';
import type { Kind, WorldName, WorldResult } from './world-result.ts';

/** Runs a world. The details of the trace and the digest are optional, because they take a sixth of the run time. */
export function runWorld({ kind, seed, faultClass }: WorldName, keepsDetails = true): Promise<WorldResult> {
  return runners[kind](seed, faultClass, undefined, keepsDetails);
}

/** A world to run. */
export interface SeedJob extends WorldName {
  /** The id of the delivery, request or session to trace. @default - the id in the first violation */
  readonly trace?: string | undefined;
}

/** The outcome of a world. */
export interface SeedReport extends Omit<WorldResult, 'trace'> {
  /** The id of the traced delivery, request or session, or `undefined` if the trace is empty. */
  readonly tracedId: string | undefined;
  readonly trace: readonly RecordedEvent[];
}

/** Runs a world, and runs it again if a trace is required. Returns a report that can be sent between threads. */
export async function reportWorld({ trace, ...name }: SeedJob): Promise<SeedReport> {
  const { trace: _, ...figures } = await runWorld(name, false);
  const tracedId = trace ?? figures.violations.find(({ subjectId }) => subjectId !== undefined)?.subjectId;
  return { ...figures, tracedId, trace: tracedId === undefined ? [] : (await runWorld(name)).trace(tracedId) };
}

type Run = (
  seed: number,
  faultClass: FaultClass,
  compositions: undefined,
  keepsDetails: boolean,
) => Promise<WorldResult>;

const runners: Readonly<Record<Kind, Run>> = { delivery: runSeed, tokens: runTokenSeed };
