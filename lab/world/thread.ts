import { parentPort, workerData } from 'node:worker_threads';

/** Runs jobs sequentially with the function `name` of `module`. */
const { module, name }: { readonly module: string; readonly name: string } = workerData;
const { [name]: work }: Readonly<Record<string, (job: unknown) => unknown>> = await import(module);
if (!work) throw new TypeError(`${module} has no function ${name}.`);
parentPort?.on('message', async job => parentPort?.postMessage(await work(job)));
