import { parentPort } from 'node:worker_threads';
import type { SeedJob, SeedReport } from './run-seeds.ts';
import { runWorld } from './run-world.ts';

/* A thread that runs one world after another. */
parentPort?.on('message', async (job: SeedJob) => {
  parentPort?.postMessage(await report(job));
});

async function report({ trace, ...name }: SeedJob): Promise<SeedReport> {
  const { trace: traceOf, ...figures } = await runWorld(name);
  const shown = trace ?? figures.violations.find(({ about }) => about !== undefined)?.about;
  return { ...figures, traced: shown, trace: shown === undefined ? [] : traceOf(shown) };
}
