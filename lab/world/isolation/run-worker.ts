import { parentPort } from 'node:worker_threads';
import { type IsolationRun, runAttack } from './run-attack.ts';

/* A thread that makes one run after another. */
parentPort?.on('message', async (run: IsolationRun) => parentPort?.postMessage(await runAttack(run)));
