import { parentPort, workerData } from 'node:worker_threads';
import { hoursInWorld } from './world-hours.ts';

/* A thread that runs the slow lane in the world by one plan. */
parentPort?.postMessage(await hoursInWorld(workerData));
