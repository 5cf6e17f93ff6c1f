import { parentPort, workerData } from 'node:worker_threads';
import { runAttack } from './run-attack.ts';

/* A thread that makes one run. */
parentPort?.postMessage(await runAttack(workerData));
