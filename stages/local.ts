import type { StageFile } from '../lib/stage-values.ts';

/** The configuration that `npm start` runs on this machine. */
export const stage: StageFile = {
  demandsUrl: 'https://demandas.example.com',
  clientFailureLimit: 100_000,
  registrationLimit: 100_000,
  // The lanes get 4, 2 and 2 of these executions. All run on one machine, and each makes hundreds of attempts at once.
  accountConcurrency: 80,
  logRetentionDays: 1,
  removalPolicy: 'destroy',
  gradual: false,
  smokeReceiverUrl: 'https://receiver.example.com/smoke',
};
