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

/** The values that a stage's file sets. One that has a default may be left out. Durations are text with a unit. */
export type StageFile = z.input<typeof stageValues>;

/** The values of a stage, with the defaults; durations are in milliseconds. */
export type StageValues = z.output<typeof stageValues>;

/** The values that each stage with customers must set, because a default would be wrong for it; and what each is. */
export const requiredWithCustomers = z.registry<{ readonly what: string }>();

/**
 * The values of a stage, a row each: what it means, its bounds, and its default (`prefault`), written as a file would. A value that is
 * neither `optional` nor has a default must stand in every stage's file, or the file does not compile. The rules between values
 * are in `config-rules.ts`.
 */
export const stageValues = z.object({
  /** The AWS account of the stage: a deployment into another is refused. @default - the account of the CDK's command line */
  account: accountNumber().optional().register(requiredWithCustomers, { what: 'the AWS account: 12 digits' }),
  /** The AWS Region of the stage, as the account. @default - the Region of the CDK's command line */
  region: regionName.optional().register(requiredWithCustomers, { what: 'the AWS Region, such as sa-east-1' }),
  /** Public URL of the demands pages: links in events begin with it. */
  demandsUrl: httpsUrl().register(requiredWithCustomers, {
    what: 'the public https address of demands, with which links in events begin',
  }),
  /** E-mail addresses that alarms are reported to. Each must confirm two subscriptions once: that of pages and that of tickets. */
  alarmRecipients: list(emailAddress, 10)
    .prefault([])
    .register(requiredWithCustomers, { what: 'the e-mail addresses that alarms go to' }),
  /** Tags of every resource, besides `service` and `stage`, such as `owner` or `cost-center`. */
  tags: tags.prefault({}),

  /**
   * The ARNs of publishers without the managed policy. Roles and users of other accounts must exist: AWS refuses a policy that names
   * another. SNS topics need raw message delivery. EventBridge rules are of the stage's own account, with the events queue as their
   * target: a rule of another account sends by a role.
   */
  publishers: list(publisherArn, 100).prefault([]),
  /**
   * Accounts, besides the stage's own, that may subscribe to the notices of refused events. An account that is taken out keeps the
   * subscriptions that it has, until they are ended by `aws sns unsubscribe`.
   */
  noticeAccounts: list(accountNumber('must be AWS accounts: 12 digits each, in quotes'), 100).prefault([]),

  /**
   * Where integrators read `docs/pt/erros.md`: the `type` of a problem of {base_url} is this URL, `#` and the code, which is a
   * heading there. @default - `type` is about:blank
   */
  docsUrl: pageUrl.optional(),
  /**
   * Custom domain of {auth_url} and its certificate, of the stage's account and Region. Set both domains before the first
   * integrator: tokens name them, and integrators store them. API Gateway's own hosts answer too. @default - API Gateway's own host
   */
  authDomain: domain.optional(),
  /** Custom domain of {base_url}, in the same way. */
  baseDomain: domain.optional(),

  /** The algorithm of the keys that sign access tokens. */
  signingAlgorithm: choice('ES256', 'RS256').prefault('ES256'),
  /**
   * Wrong passwords that one client may send in a minute, tries during a lock left out. Beyond them its password grants are
   * refused, and never a refresh.
   */
  clientFailureLimit: count(1, 1_000_000).prefault(300),
  /** Minimum length of a password that an operator sets, in characters. */
  passwordMinimumLength: count(8, 256).prefault(15),

  /**
   * The backoff: waits between attempts, before jitter; 9 days at most in all. n waits make n + 1 attempts. Of more than nine waits some
   * may stay unused: `Retry-After` raises each to a day at most, and from 10 days after its event on a delivery ends once a slow receiver
   * or a fault of ours delays it.
   */
  retrySchedule: waits(duration('100ms', '7d'), 30).prefault('5s,5m,30m,2h,5h,10h,14h,20h,24h'),
  /** Timeout of one delivery attempt, from resolving the name to the last response header. */
  attemptTimeout: duration('100ms', '20s').prefault('15s'),

  /** Registrations and replacements of webhooks, `POST` and `PUT`, that an account may request in a minute. */
  registrationLimit: count(1, 1_000_000).prefault(30),

  /**
   * Concurrent executions that the account has in this Region (Lambda's quota L-B99A9384): 10 in a new account. The lanes get their
   * parts of it (`lane-places.ts`).
   */
  accountConcurrency: count(10, 1_000_000).prefault(10),
  /**
   * Reserved concurrency of the token function: it limits what password hashes may cost. With 0 the function shares the account's
   * unreserved concurrency.
   */
  tokenConcurrency: count(0, 10_000).prefault(0),

  /** Days that logs are kept. */
  logRetentionDays: logRetention.prefault(30),
  /** The fate of tables, keys, queues and logs when a stack is deleted. */
  removalPolicy: choice('retain', 'destroy').prefault('retain'),
  /** Makes stacks and tables refuse to be deleted. Off for the first deployment: a failed one must be deleted first. */
  protection: flag.prefault(false),
  /**
   * Releases by CodeDeploy: a hook checks each new version before it gets traffic, and on a stage with customers traffic shifts gradually. Off
   * (`-c gradual=false`) for the deployment after `ops rollback`.
   */
  gradual: flag.prefault(true),

  /** A receiver for the smoke test, which answers 2xx. @default - a function of the stage's own */
  smokeReceiverUrl: httpsUrl().optional(),
  /** The interval at which the stage tests itself, in whole minutes. @default - only when asked to */
  smokeSchedule: duration('5m', '12h')
    .refine(interval => interval % 60_000 === 0, 'must be whole minutes')
    .optional(),
});
