import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Happening } from '@emissor/virtual-cloud';
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

/**
 * Runs worlds in threads, as many at once as there are processors. Returns the reports in the order of the jobs. `onDone`: called
 * after each, with the number that are done.
 */
export async function runSeeds(jobs: readonly SeedJob[], onDone: (done: number) => void): Promise<SeedReport[]> {
  const reports: SeedReport[] = [];
  const waiting = jobs.entries();
  let done = 0;
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), jobs.length) }, work));
  return reports;

  async function work(): Promise<void> {
    const thread = new Worker(new URL('seed-worker.ts', import.meta.url));
    try {
      for (const [index, job] of waiting) {
        const answer = once(thread, 'message'); // an error in the thread rejects
        thread.postMessage(job);
        [reports[index]] = await answer;
        done += 1;
        onDone(done);
      }
    } finally {
      await thread.terminate();
    }
  }
}
