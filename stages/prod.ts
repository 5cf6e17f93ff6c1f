import type { StageFile } from '../lib/config.ts';

/**
 * The stage that customers use. What is empty must be filled in before the first deployment. `lib/config.ts` tells what every
 * value means, and which others there are: `authDomain` and `baseDomain` with their certificates,
 * or `owner` and `costCenter`, for example.
 */
export const stage: StageFile = {
  account: '',
  region: '',
  demandsUrl: '',
  alarmRecipients: [],

  /** Of `npm run preflight`: a new account has 10, and then nothing can be reserved. */
  accountConcurrency: 1_000,
  tokenConcurrency: 100,
  apiConcurrency: 100,

  logRetentionDays: 365,
  removalPolicy: 'retain',
  /** Switch this on after the first deployment: CloudFormation must be able to delete what failed to come about. */
  protection: false,
  gradual: true,
};
