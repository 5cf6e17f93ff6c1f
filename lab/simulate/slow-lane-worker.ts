import { parentPort, workerData } from 'node:worker_threads';
import { makeRandom } from '../../tools/support/random.ts';
import { type SlowLanePlan, simulateSlowLane } from './slow-lane.ts';

/* A thread that simulates the slow lane by one plan. */
parentPort?.postMessage(simulateSlowLane(workerData as SlowLanePlan, makeRandom(1)));
