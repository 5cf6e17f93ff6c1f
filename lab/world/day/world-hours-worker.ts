import { parentPort } from 'node:worker_threads';
import type { SlowLanePlan } from './slow-lane.ts';
import { hoursInWorld } from './world-hours.ts';

/* A thread that runs the slow lane in the world by one plan after another. */
parentPort?.on('message', async (plan: SlowLanePlan) => parentPort?.postMessage(await hoursInWorld(plan)));
