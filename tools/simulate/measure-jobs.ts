import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Measured, MeasureJob } from './measure.ts';

/** Measures all jobs, as many at once as there are processors. `onDone`: called after each. In the order of the jobs. */
export async function measureJobs(jobs: readonly MeasureJob[], onDone: () => void): Promise<Measured[][]> {
  const results: Measured[][] = [];
  const waiting = jobs.entries();
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return results;

  async function work(): Promise<void> {
    for (const [index, job] of waiting) {
      results[index] = await measureInThread(job);
      onDone();
    }
  }
}

async function measureInThread(job: MeasureJob): Promise<Measured[]> {
  const worker = new Worker(new URL('./measure-worker.ts', import.meta.url), { workerData: job });
  const [measured] = await once(worker, 'message'); // an error in the thread rejects
  return measured;
}
