import type { StageFile } from '../lib/stage-values.ts';

/** A stage for experiments, in the account and Region of the CDK CLI. Destroying the stage deletes all its resources. */
export const stage: StageFile = {
  demandsUrl: 'https://demandas.example.com',
  logRetentionDays: 7,
  removalPolicy: 'destroy',
};
