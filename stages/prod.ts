import type { StageFile } from '../lib/stage-values.ts';

/**
 * The stage for customers. Fill in the empty values before the first deployment. `lib/stage-values.ts` describes all values, including
 * optional values such as `authDomain`, `baseDomain`, `docsUrl` and `tags`.
 */
export const stage: StageFile = {
  account: '',
  region: '',
  demandsUrl: '',
  alarmRecipients: [],

  /**
   * Lambda's quota of concurrent executions in this account and Region. `npm run preflight` checks this value. A new account has a quota of
   * 10. In a new account, set this value to 10 and `tokenConcurrency` to 0.
   */
  accountConcurrency: 1_000,
  tokenConcurrency: 100,

  logRetentionDays: 365,
  removalPolicy: 'retain',
  /** Set this to true only after the first deployment. If that deployment fails, you must delete its stacks. */
  protection: false,
  /** The smoke-test interval. A failed test pages an operator. The test needs credentials (docs/runbook.md, "Smoke test"). */
  smokeSchedule: '15m',
};
