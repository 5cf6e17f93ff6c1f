import type { StageFile } from '../lib/config.ts';

/** What `npm start` runs on this machine. */
export const stage: StageFile = {
  demandsUrl: 'https://demandas.example.com',
  addressFailureLimit: 100_000,
  clientFailureLimit: 100_000,
  apiRateLimit: 10_000,
  apiBurstLimit: 5_000,
  // Small, because the lanes share this machine, and each consumer makes a hundred attempts at once.
  firstConcurrency: 4,
  retryConcurrency: 2,
  slowConcurrency: 2,
  logRetentionDays: 1,
  removalPolicy: 'destroy',
  smokeReceiverUrl: 'https://receiver.example.com/smoke',
};
