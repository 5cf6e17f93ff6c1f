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
  waitList,
} from './value-schemas.ts';

/** The values that a stage's file sets. Values with a default may be omitted. Durations are strings with a unit. */
export type StageFile = z.input<typeof stageValues>;

/** The values of a stage, including the defaults. Durations are in milliseconds. */
export type StageValues = z.output<typeof stageValues>;

/** The values that each stage with customers must set, because they have no suitable default. `what` describes the value. */
export const requiredWithCustomers = z.registry<{ readonly what: string }>();

/**
 * The values of a stage, with their bounds and defaults (`prefault`) in the notation of the files. A stage's file compiles only if it
 * sets each value that is not `optional` and has no default. `config-rules.ts` has the rules that involve several values.
 */
export const stageValues = z.object({
  /** The AWS account of the stage. A deployment to another account fails. @default - the account of the CDK CLI */
  account: accountNumber().optional().register(requiredWithCustomers, { what: 'the AWS account: 12 digits' }),
  /** The AWS Region of the stage. A deployment to another Region fails. @default - the Region of the CDK CLI */
  region: regionName.optional().register(requiredWithCustomers, { what: 'the AWS Region, such as sa-east-1' }),
  /** The public URL of the demands pages. Links in events start with this URL. */
  demandsUrl: httpsUrl().register(requiredWithCustomers, {
    what: 'the public https URL of the demands pages, which links in events start with',
  }),
  /** The e-mail addresses that receive alarms. Each must confirm two subscriptions, one for pages and one for tickets. */
  alarmRecipients: list(emailAddress, 10)
    .prefault([])
    .register(requiredWithCustomers, { what: 'the e-mail addresses that receive alarms' }),
  /** The tags of every resource, such as `owner` or `cost-center`, in addition to `service` and `stage`. */
  tags: tags.prefault({}),

  /**
   * The ARNs of publishers without the managed policy. Roles and users in other accounts must exist, because AWS rejects policies with
   * missing principals. SNS topics need raw message delivery. EventBridge rules must be in the stage's account and target the events
   * queue directly, because a rule in another account sends with a role.
   */
  publishers: list(publisherArn, 100).prefault([]),
  /**
   * The other accounts that may subscribe to notices about rejected events. After you remove an account, delete its existing subscriptions
   * with `aws sns unsubscribe`.
   */
  noticeAccounts: list(accountNumber('must be AWS accounts: 12 digits each, in quotes'), 100).prefault([]),

  /**
   * The URL of the page that publishes `docs/pt/erros.md`. In error responses of {base_url}, `type` is this URL with the error code as its
   * fragment, because each code is a heading on the page. @default - `type` is about:blank
   */
  docsUrl: pageUrl.optional(),
  /**
   * The custom domain of {auth_url}, and its certificate in the stage's account and Region. Set both domains before the first integrator
   * starts, because tokens contain them and integrators store them. API Gateway's own hosts also work. @default - API Gateway's own host
   */
  authDomain: domain.optional(),
  /** The custom domain of {base_url}, and its certificate. The rules of `authDomain` apply. */
  baseDomain: domain.optional(),

  /** The algorithm of the keys that sign access tokens. */
  signingAlgorithm: choice('ES256', 'RS256').prefault('ES256'),
  /**
   * The number of wrong passwords that a client may send in a minute. Passwords during a lockout do not count. Above the limit, Emissor
   * rejects the client's password grants, but not its refreshes.
   */
  clientFailureLimit: count(1, 1_000_000).prefault(300),
  /** The minimum length, in characters, of passwords that operators set. */
  passwordMinimumLength: count(8, 256).prefault(15),

  /**
   * The waits between attempts, before jitter. Their sum is at most 9 days. A list of n waits allows n + 1 attempts. `Retry-After` extends
   * a wait to at most 1 day. A delayed delivery ends 10 days after its event, even if waits remain.
   */
  retrySchedule: waitList(duration('100ms', '7d'), 30).prefault('5s,5m,30m,2h,5h,10h,14h,20h,24h'),
  /** The timeout of a delivery attempt, from DNS resolution to the last response header. */
  attemptTimeout: duration('100ms', '20s').prefault('15s'),

  /** The maximum number of webhook registrations (`POST`) and replacements (`PUT`) per account and minute. */
  registrationLimit: count(1, 1_000_000).prefault(30),

  /**
   * The account's quota of concurrent executions in the stage's Region (Lambda quota L-B99A9384). A new account has 10.
   * `lane-concurrency.ts` computes the concurrency of the lanes from this value.
   */
  accountConcurrency: count(10, 1_000_000).prefault(10),
  /**
   * The reserved concurrency of the token function, which limits the cost of password hashes. With 0, the function shares the account's
   * unreserved concurrency.
   */
  tokenConcurrency: count(0, 10_000).prefault(0),

  /** The retention of logs, in days. */
  logRetentionDays: logRetention.prefault(30),
  /** The removal policy for tables, keys, queues and logs when a stack is deleted. */
  removalPolicy: choice('retain', 'destroy').prefault('retain'),
  /** Protects stacks and tables from deletion. Enable it after the first deployment, because a failed one leaves stacks to delete. */
  protection: flag.prefault(false),
  /**
   * Releases functions with CodeDeploy. A hook checks each new version before it receives traffic. On stages with customers, traffic
   * shifts gradually. Disable this (`-c gradual=false`) for the deployment after `ops rollback`.
   */
  gradual: flag.prefault(true),

  /** The URL of an external receiver for smoke tests, which must respond with 2xx. @default - a function of the stage */
  smokeReceiverUrl: httpsUrl().optional(),
  /** The interval between scheduled smoke tests, in whole minutes. @default - no scheduled test */
  smokeSchedule: duration('5m', '12h')
    .refine(interval => interval % 60_000 === 0, 'must be whole minutes')
    .optional(),
});
