import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

/**
 * Runs jobs in threads, as many at once as there are processors. `module` and `name` are the file and the name of the
 * function that does a job. Returns the results in the order of the jobs. `onDone` receives the count of finished jobs.
 */
export async function runInThreads<Job, Result>(
  module: URL,
  name: string,
  jobs: readonly Job[],
  onDone: (done: number) => void = () => undefined,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = jobs.entries();
  let done = 0;
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), jobs.length) }, work));
  return results;

  async function work(): Promise<void> {
    const thread = new Worker(new URL('./thread.ts', import.meta.url), { workerData: { module: module.href, name } });
    try {
      for (const [index, job] of waiting) {
        const answer = once(thread, 'message'); // an error in the thread rejects
        thread.postMessage(job);
        [results[index]] = await answer;
        done += 1;
        onDone(done);
      }
    } finally {
      await thread.terminate();
    }
  }
}
