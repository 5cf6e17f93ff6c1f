import type { Happening } from '@emissor/virtual-cloud';
import { runInThreads } from './run-in-threads.ts';
import type { WorldName, WorldResult } from './world-result.ts';

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

/** Runs worlds in threads. Returns the reports in the order of the jobs. `onDone`: called after each, with the number that are done. */
export function runSeeds(jobs: readonly SeedJob[], onDone: (done: number) => void): Promise<SeedReport[]> {
  return runInThreads(new URL('seed-worker.ts', import.meta.url), jobs, onDone);
}
