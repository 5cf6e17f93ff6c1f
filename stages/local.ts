import type { StageFile } from '../lib/stage-values.ts';

/** The stage that `npm start` runs on this machine. */
export const stage: StageFile = {
  demandsUrl: 'https://demandas.example.com',
  clientFailureLimit: 100_000,
  registrationLimit: 100_000,
  logRetentionDays: 1,
  removalPolicy: 'destroy',
  gradual: false,
  smokeReceiverUrl: 'https://receiver.example.com/smoke',
};
