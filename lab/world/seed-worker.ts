import { parentPort } from 'node:worker_threads';
import { runSeed } from './run-seed.ts';
import type { SeedJob, SeedReport } from './run-seeds.ts';

/* A thread that runs one seed after another. */
parentPort?.on('message', async (job: SeedJob) => {
  parentPort?.postMessage(await report(job));
});

async function report({ seed, faultClass, trace }: SeedJob): Promise<SeedReport> {
  const { trace: traceOf, ...figures } = await runSeed(seed, faultClass);
  const shown = trace ?? figures.violations.find(({ deliveryId }) => deliveryId !== undefined)?.deliveryId;
  return { ...figures, traced: shown, trace: shown === undefined ? [] : traceOf(shown) };
}
