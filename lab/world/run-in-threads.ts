import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/**
 * Runs jobs in one thread per processor. `module` exports the function `name`, which runs a job. Returns the results in
 * the order of the jobs. Calls `onDone` with the number of finished jobs after each job.
 */
export async function runInThreads<Job, Result>(
  module: URL,
  name: string,
  jobs: readonly Job[],
  onDone: (done: number) => void = () => undefined,
): Promise<Result[]> {
  const results: Result[] = [];
  const remaining = jobs.entries();
  let done = 0;
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), jobs.length) }, runJobs));
  return results;

  async function runJobs(): Promise<void> {
    const thread = new Worker(new URL('./thread.ts', import.meta.url), { workerData: { module: module.href, name } });
    try {
      for (const [index, job] of remaining) {
        const reply = once(thread, 'message'); // rejects if the thread throws
        thread.postMessage(job);
        [results[index]] = await reply;
        done += 1;
        onDone(done);
      }
    } finally {
      await thread.terminate();
    }
  }
}
