import { parentPort, workerData } from 'node:worker_threads';
import { type MeasureJob, measure } from './measure.ts';

/* A thread that measures one job. */
parentPort?.postMessage(measure(workerData as MeasureJob));
