import { parentPort, workerData } from 'node:worker_threads';
import { makeRandom } from '../../../tools/support/random.ts';
import { simulateSlowLane } from './slow-lane.ts';

/* A thread that simulates the slow lane by one plan. */
parentPort?.postMessage(simulateSlowLane(workerData, makeRandom(1)));
