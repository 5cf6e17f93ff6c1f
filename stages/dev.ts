import type { StageFile } from '../lib/stage-values.ts';

/** A stage to try things in, in whatever account and Region the CDK's command line finds. It leaves nothing behind. */
export const stage: StageFile = {
  demandsUrl: 'https://demandas.example.com',
  logRetentionDays: 7,
  removalPolicy: 'destroy',
};
