import * as z from 'zod';
import {
  accountNumber,
  choice,
  count,
  domain,
  duration,
  emailAddress,
  flag,
  httpsUrl,
  list,
  logRetention,
  pageUrl,
  publisherArn,
  regionName,
  tags,
  waits,
} from './value-schemas.ts';

/** The values that a stage's file sets. Values that have a default may be omitted. Durations are text with a unit. */
export type StageFile = z.input<typeof stageValues>;

/** The values of a stage, including the defaults. Durations are in milliseconds. */
export type StageValues = z.output<typeof stageValues>;

/** The values that each stage with customers must set, because no default is suitable, with a description of each. */
export const requiredWithCustomers = z.registry<{ readonly what: string }>();

/**
 * The values of a stage. Each row has the description, bounds and default (`prefault`), in the notation of the files. A stage's file must
 * set each value that is not `optional` and has no default. Otherwise, it does not compile. `config-rules.ts` has the rules between
 * values.
 */
export const stageValues = z.object({
  /** The AWS account of the stage. A deployment to another account fails. @default - the account of the CDK's command line */
  account: accountNumber().optional().register(requiredWithCustomers, { what: 'the AWS account: 12 digits' }),
  /** The AWS Region of the stage. A deployment to another Region fails. @default - the Region of the CDK's command line */
  region: regionName.optional().register(requiredWithCustomers, { what: 'the AWS Region, such as sa-east-1' }),
  /** The public URL of the demands pages. Links in events start with it. */
  demandsUrl: httpsUrl().register(requiredWithCustomers, {
    what: 'the public https URL of the demands pages, with which links in events start',
  }),
  /** E-mail addresses that receive alarms. Each must confirm two subscriptions: one for pages and one for tickets. */
  alarmRecipients: list(emailAddress, 10)
    .prefault([])
    .register(requiredWithCustomers, { what: 'the e-mail addresses that receive alarms' }),
  /** Tags of every resource, in addition to `service` and `stage`, such as `owner` or `cost-center`. */
  tags: tags.prefault({}),

  /**
   * The ARNs of publishers without the managed policy. Roles and users of other accounts must exist, because AWS rejects a policy that
   * names a missing one. SNS topics need raw message delivery. EventBridge rules must be in the stage's own account, with the events queue
   * as their target, because a rule of another account sends with a role.
   */
  publishers: list(publisherArn, 100).prefault([]),
  /**
   * Accounts, in addition to the stage's own, that may subscribe to the notices of rejected events. The existing subscriptions of an
   * account that is removed continue until `aws sns unsubscribe` ends them.
   */
  noticeAccounts: list(accountNumber('must be AWS accounts: 12 digits each, in quotes'), 100).prefault([]),

  /**
   * The page where integrators read `docs/pt/erros.md`. The `type` of a problem of {base_url} is this URL, `#` and the code, which
   * is a heading of the page. @default - `type` is about:blank
   */
  docsUrl: pageUrl.optional(),
  /**
   * Custom domain of {auth_url} and its certificate, in the stage's account and Region. Set both domains before the first integrator
   * starts, because tokens contain them and integrators store them. API Gateway's own hosts respond, too. @default - API Gateway's own host
   */
  authDomain: domain.optional(),
  /** Custom domain of {base_url} and its certificate, like `authDomain`. */
  baseDomain: domain.optional(),

  /** The algorithm of the keys that sign access tokens. */
  signingAlgorithm: choice('ES256', 'RS256').prefault('ES256'),
  /**
   * The number of wrong passwords that one client may send in a minute, except during a lock. Above the limit, its password grants are
   * rejected. Refreshes are not affected.
   */
  clientFailureLimit: count(1, 1_000_000).prefault(300),
  /** Minimum length of a password that an operator sets, in characters. */
  passwordMinimumLength: count(8, 256).prefault(15),

  /**
   * The waits between attempts, before jitter, at most 9 days in total. n waits allow n + 1 attempts. Some waits may remain unused, because
   * `Retry-After` extends each to at most a day, and a delayed delivery ends 10 days after its event.
   */
  retrySchedule: waits(duration('100ms', '7d'), 30).prefault('5s,5m,30m,2h,5h,10h,14h,20h,24h'),
  /** Timeout of one delivery attempt, from resolving the name to the last response header. */
  attemptTimeout: duration('100ms', '20s').prefault('15s'),

  /** Registrations and replacements of webhooks, `POST` and `PUT`, that an account may request in a minute. */
  registrationLimit: count(1, 1_000_000).prefault(30),

  /**
   * Concurrent executions of the account in this Region (Lambda quota L-B99A9384), which are 10 in a new account. `lane-concurrency.ts`
   * divides them between the lanes.
   */
  accountConcurrency: count(10, 1_000_000).prefault(10),
  /**
   * Reserved concurrency of the token function. It limits the cost of password hashes. With 0 the function shares the account's
   * unreserved concurrency.
   */
  tokenConcurrency: count(0, 10_000).prefault(0),

  /** Retention of logs, in days. */
  logRetentionDays: logRetention.prefault(30),
  /** The policy for tables, keys, queues and logs when a stack is deleted. */
  removalPolicy: choice('retain', 'destroy').prefault('retain'),
  /** Protects stacks and tables from deletion. Enable it after the first deployment, because a failed first stack must be deleted. */
  protection: flag.prefault(false),
  /**
   * Releases by CodeDeploy. A hook checks each new version before it receives traffic. On a stage with customers, traffic shifts gradually.
   * Disable it (`-c gradual=false`) for the deployment after `ops rollback`.
   */
  gradual: flag.prefault(true),

  /** A receiver for the smoke test, which responds with 2xx. @default - a function of the stage */
  smokeReceiverUrl: httpsUrl().optional(),
  /** The interval of the scheduled smoke test, in whole minutes. @default - no scheduled test */
  smokeSchedule: duration('5m', '12h')
    .refine(interval => interval % 60_000 === 0, 'must be whole minutes')
    .optional(),
});
