import type { StageFile } from '../lib/stage-values.ts';

/**
 * The stage for customers. Fill in the empty values before the first deployment. `lib/stage-values.ts` describes each value and the
 * optional ones, such as `authDomain` and `baseDomain`, `docsUrl` and `tags`.
 */
export const stage: StageFile = {
  account: '',
  region: '',
  demandsUrl: '',
  alarmRecipients: [],

  /**
   * Lambda's quota of concurrent executions in this account and Region. `npm run preflight` compares it. In a new account, the quota is
   * 10. Then write 10 here, and 0 for the value below.
   */
  accountConcurrency: 1_000,
  tokenConcurrency: 100,

  logRetentionDays: 365,
  removalPolicy: 'retain',
  /** Switch this on after the first deployment: CloudFormation must be able to delete a deployment that failed. */
  protection: false,
  /** The stage tests itself and pages an operator if a test fails. The test needs credentials: docs/runbook.md, "Smoke test". */
  smokeSchedule: '15m',
};
