import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/**
 * Runs jobs in threads, as many at once as there are processors. `worker`: the file of a thread, which gets its job as
 * `workerData`, and sends its result. Returns the results in the order of the jobs. `onDone`: called after each.
 */
export async function runInThreads<Job, Result>(
  worker: URL,
  jobs: readonly Job[],
  onDone: () => void,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = jobs.entries();
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return results;

  async function work(): Promise<void> {
    for (const [index, workerData] of waiting) {
      const [result] = await once(new Worker(worker, { workerData }), 'message'); // an error in the thread rejects
      results[index] = result;
      onDone();
    }
  }
}
