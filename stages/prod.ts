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
   * Lambda's quota of concurrent executions in this account and Region. `npm run preflight` checks this value. If the account is new, its
   * quota is 10: set this value to 10 and `tokenConcurrency` to 0.
   */
  accountConcurrency: 1_000,
  tokenConcurrency: 100,

  logRetentionDays: 365,
  removalPolicy: 'retain',
  /** Set this to true after the first deployment, because you must delete the stacks of a failed first deployment. */
  protection: false,
  /** The interval of the smoke test, which pages an operator if it fails. It needs credentials (docs/runbook.md, "Smoke test"). */
  smokeSchedule: '15m',
};
