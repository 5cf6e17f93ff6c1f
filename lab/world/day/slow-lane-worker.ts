import { parentPort } from 'node:worker_threads';
import { makeRandom } from '../../../tools/support/random.ts';
import { type SlowLanePlan, simulateSlowLane } from './slow-lane.ts';

/* A thread that simulates the slow lane by one plan after another. */
parentPort?.on('message', (plan: SlowLanePlan) => parentPort?.postMessage(simulateSlowLane(plan, makeRandom(1))));
