import * as z from 'zod';
import { ConfigurationError, isStageName, knownStage, readStageFile, type StageName } from './stage-files.ts';

/** The values that a stage's file sets. A value that is left out has its default. Durations are text with a unit. */
export type StageFile = Partial<z.input<typeof schema>>;

/** All values that may differ between stages; durations are in milliseconds. */
export type StageConfiguration = z.output<typeof schema> & LanePlaces & { readonly stage: StageName };

/** The batches that each lane processes at once. */
type LanePlaces = Readonly<Record<keyof typeof laneShares, number>>;

/**
 * The configuration of one stage: the defaults, replaced by what its file says, and that by `overrides`.
 *
 * @throws {ConfigurationError} for an unknown stage, an unknown key, or an invalid or missing value.
 */
export function stageConfiguration(name: unknown, overrides: Record<string, unknown> = {}): StageConfiguration {
  const stage = knownStage(name);
  const given: Record<string, unknown> = { ...readStageFile(stage), ...overrides };
  const unknown = Object.keys(given).find(key => !isStageKey(key));
  if (unknown !== undefined) {
    throw new ConfigurationError(`Unknown stage value "${unknown}": the values are ${stageKeys.join(', ')}.`);
  }
  const missing = trialStages.includes(stage) ? [] : Object.keys(required).filter(key => isEmpty(given[key]));
  if (missing.length > 0) {
    const list = missing.map(key => `${key} (${required[key]})`).join(', ');
    throw new ConfigurationError(`Stage ${stage}: stages/${stage}.ts must give ${list}.`);
  }
  const result = schema.safeParse({ ...defaults, ...given });
  if (result.success) return { stage, ...lanePlaces(result.data.accountConcurrency), ...result.data };
  const problems = result.error.issues.map(issue => `${issue.path[0]?.toString() ?? 'configuration'} ${issue.message}`);
  throw new ConfigurationError(`Stage ${stage}: ${[...new Set(problems)].join('; ')}.`);
}

/**
 * The configuration that the context of a CDK app asks for: `-c stage=NAME` (default `dev`). In the stages `local` and `dev`,
 * `-c KEY=VALUE` tries another value. Any other stage is what its file says: a value given once on a command line would be
 * undone by the next deployment.
 *
 * @throws {ConfigurationError} for an unknown stage, an unknown key, or an invalid or missing value.
 */
export function contextConfiguration(context: Readonly<Record<string, unknown>>): StageConfiguration {
  const { stage = 'dev', ...others } = context;
  // The CDK's own keys all contain a colon or a slash. A key without one was meant for us, perhaps misspelt.
  const overrides = Object.fromEntries(Object.entries(others).filter(([key]) => !/[:/]/.test(key)));
  const keys = Object.keys(overrides);
  if (keys.length > 0 && isStageName(stage) && !trialStages.includes(stage)) {
    throw new ConfigurationError(
      `Stage ${stage}: ${keys.join(', ')} was given by -c, which the next deployment would undo: write it into stages/${stage}.ts.`,
    );
  }
  return stageConfiguration(stage, overrides);
}

/** Returns whether a stage has customers. The others are there for trying things. */
export function hasCustomers({ stage }: Pick<StageConfiguration, 'stage'>): boolean {
  return !trialStages.includes(stage);
}

/** Returns whether a stage has a stack for smoke tests: for a receiver of its own, or for tests on a schedule. */
export function hasSmokeStack({ smokeReceiverUrl, smokeSchedule }: StageConfiguration): boolean {
  return smokeReceiverUrl === undefined || smokeSchedule !== undefined;
}

/**
 * The reserved concurrency of the receiver of smoke tests: a flood of requests to its URL then takes nothing from the service.
 * `undefined` where the stage has no receiver, or its account has no room: a new one has 10, and none can be reserved.
 */
export function receiverConcurrency(configuration: StageConfiguration): number | undefined {
  const { accountConcurrency, tokenConcurrency, apiConcurrency, smokeReceiverUrl } = configuration;
  const reserved = tokenConcurrency + apiConcurrency + receiverReservation;
  const isReserved = smokeReceiverUrl === undefined && accountConcurrency >= reserved + unreservedConcurrency;
  return isReserved ? receiverReservation : undefined;
}

/**
 * The places of the lanes where the stage's file does not say: a part of the account's concurrency each, so that receivers that
 * hang leave logins and the API theirs; and two at least, since SQS event sources take no fewer.
 */
export function lanePlaces(accountConcurrency: number): LanePlaces {
  const places = (share: number) => Math.min(Math.max(Math.floor((accountConcurrency * share) / 100), 2), mostPlaces);
  const { firstConcurrency, retryConcurrency, slowConcurrency } = laneShares;
  return {
    firstConcurrency: places(firstConcurrency),
    retryConcurrency: places(retryConcurrency),
    slowConcurrency: places(slowConcurrency),
  };
}

/** Hundredths of the account's concurrency. */
const laneShares = { firstConcurrency: 5, retryConcurrency: 2, slowConcurrency: 2 };

/** The most that an SQS event source takes. */
const mostPlaces = 1_000;

/** Enough for all tests that run at once: each sends one event, which is answered in milliseconds. */
const receiverReservation = 2;

/** Stages for trying things: they need no values of their own, and have no customers. */
const trialStages: readonly StageName[] = ['local', 'dev'];

/** The values that every other stage must set, because a default would be wrong for each. */
const required: Readonly<Record<string, string>> = {
  account: 'the AWS account: 12 digits',
  region: 'the AWS Region, such as sa-east-1',
  demandsUrl: 'the public https address of demands, with which links in events begin',
  alarmRecipients: 'the e-mail addresses that alarms go to',
};

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

const unitMilliseconds: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A reserved concurrency. 0 means none: the function shares the account's unreserved concurrency. */
const reservation = count(0, 10_000);

const httpsUrl = z
  .url({ protocol: /^https$/, error: 'must be an https URL' })
  .refine(value => !value.endsWith('/'), 'must not end in a slash');

const hostName = z
  .string('must be a host name in lower case')
  .regex(/^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'must be a host name in lower case');
const flag = z.union(
  [z.boolean(), z.enum(['true', 'false']).transform(text => text === 'true')],
  'must be true or false',
);

/** AWS takes these characters in the value of a tag. */
const tagValue = z
  .string('must be text')
  .regex(/^[\p{L}\p{N} _.:/=+@-]{1,256}$/u, 'must be 1 to 256 letters, digits, spaces or _.:/=+-@');

const domainRole = z.enum(['prepared', 'primary', 'only'], 'must be prepared, primary or only');

const certificateArn = z
  .string('must be the ARN of an ACM certificate')
  .regex(/^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/, 'must be the ARN of an ACM certificate');

/** The retention periods that CloudWatch Logs accepts. */
const retentionDays = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653] as const;

const schema = z
  .strictObject({
    /** The AWS account and Region of the stage: a deployment into others is refused. Without them, the CLI's own are used. */
    account: z
      .string('must be the 12 digits of an AWS account, in quotes')
      .regex(/^\d{12}$/, 'must be the 12 digits of an AWS account, in quotes')
      .optional(),
    region: z
      .string('must be an AWS Region, such as sa-east-1')
      .regex(/^[a-z]{2}(-[a-z]+)+-\d+$/, 'must be an AWS Region, such as sa-east-1')
      .optional(),
    /** E-mail addresses that alarms and suspended webhooks are reported to. Each must confirm the subscription once. */
    alarmRecipients: list(z.email('must be e-mail addresses'), 10),
    /** The names of those who answer for the stage and pay for it: tags of every resource. */
    owner: tagValue.optional(),
    costCenter: tagValue.optional(),

    /** Roles and users of other accounts that may publish events. Each must exist: AWS refuses a policy that names another. */
    publisherRoles: list(arn('iam', '', /(role|user)\/[\w+=.@/-]+/, 'of roles or users'), 100),
    /**
     * SNS topics that may bring events, with raw message delivery, and EventBridge rules of the stage's own account with the events
     * queue as a target. A rule of another account sends by a role, which is one of `publisherRoles`. All topics and rules share one
     * sender each in the notices of refused events: a faulty one hides the others' behind a count. Roles are reported one by one.
     */
    publisherTopics: list(arn('sns', '[a-z0-9-]+', /[\w-]+(\.fifo)?/, 'of SNS topics'), 100),
    publisherRules: list(arn('events', '[a-z0-9-]+', /rule\/([\w.-]+\/)?[\w.-]+/, 'of EventBridge rules'), 100),
    /**
     * Accounts, besides the stage's own, that may subscribe to the notices of refused events. An account that is taken out keeps the
     * subscriptions that it has, until they are ended by `aws sns unsubscribe`.
     */
    noticeAccounts: list(z.string().regex(/^\d{12}$/, 'must be AWS accounts: 12 digits each, in quotes'), 100),

    /** Public URL of the demands pages: links in events begin with it. */
    demandsUrl: httpsUrl,
    /**
     * Where integrators read `docs/pt/erros.md`: the `type` of a problem of {base_url} is this URL, `#` and the code, which is a
     * heading there. @default - `type` is about:blank
     */
    docsUrl: z
      .url({ protocol: /^https$/, error: 'must be an https URL' })
      .refine(value => !value.includes('#'), 'must not have a fragment')
      .optional(),
    /** Custom domain of {auth_url}, with its certificate. Without one, API Gateway's own host is used. */
    authDomain: hostName.optional(),
    authCertificateArn: certificateArn.optional(),
    /**
     * What the domain is for: a stage that is in use changes its domain in steps, so that nobody is refused (docs/runbook.md,
     * "A custom domain"). `prepared`: it answers, and API Gateway's host still names {auth_url}. `primary`: it names {auth_url}, and
     * API Gateway's host still answers. `only`: API Gateway's host is off.
     */
    authDomainRole: domainRole,
    /** Custom domain of {base_url}, with its certificate and its role. */
    baseDomain: hostName.optional(),
    baseCertificateArn: certificateArn.optional(),
    baseDomainRole: domainRole,
    /** The day, such as 2027-12-01, until which the host that named {auth_url} or {base_url} before answers, as integrators were told. */
    formerHostsUntil: z.iso.date('must be a day, such as 2027-12-01').optional(),

    /** Lifetime of an access token: a day at most. */
    accessTokenLifetime: duration('1s', '24h'),
    /**
     * Idle lifetime of a session: it ends when it was not used for this long. Where the client may not refresh, a session lives
     * as long as its access token.
     */
    refreshIdleLifetime: duration('1s', '365d'),
    /** Absolute lifetime of a session: it ends this long after the login, used or not. MAC keys are kept as long. */
    refreshAbsoluteLifetime: duration('1s', '730d'),
    signingAlgorithm: z.enum(['ES256', 'RS256'], 'must be ES256 or RS256'),
    /** Age at which a signing key is replaced. The rotation looks once a day. */
    keyRotationPeriod: duration('1d', '730d'),
    /**
     * Failed client authentications (401) of one IP address that are counted in a minute. Further ones are answered with 429 and
     * written nowhere; the right credentials are served always.
     */
    addressFailureLimit: count(1, 1_000_000),
    /**
     * Wrong passwords that one client may send in a minute, tries during a lock left out. Beyond them its password grants are
     * refused, and never a refresh.
     */
    clientFailureLimit: count(1, 1_000_000),
    /** Minimum length of a password that an operator sets, in characters. */
    passwordMinimumLength: count(8, 256),

    /** The alarm on refused grants goes off above this number in five minutes. */
    invalidGrantSurge: count(1, 1_000_000),

    /** The backoff: waits between attempts, before jitter. n waits make n + 1 attempts. */
    retrySchedule: z
      .string('must be one text with commas, such as 5s,5m,30m')
      .transform(value => value.split(',').map(wait => wait.trim()))
      .pipe(
        z.array(duration('100ms', '7d')).min(1, 'must name at least one wait').max(30, 'must name at most 30 waits'),
      ),
    /** Timeout of one delivery attempt, from resolving the name to the last response header. */
    attemptTimeout: duration('100ms', '20s'),
    /**
     * When an attempt in the first or the retry lane is given up after 2 s without an answer: only while messages wait in
     * the lane's queue, or always.
     */
    giveUp: z.enum(['waiting', 'always'], 'must be waiting or always'),
    /** Attempts that may begin at one slow webhook in a second. */
    slowRate: count(1, 1_000),
    /** Provisioned event pollers of each lane, which cost while idle: 0, or 2 and more. */
    provisionedPollers: count(0, 200).refine(pollers => pollers !== 1, 'must be 0, or 2 to 200'),
    /** Deliveries are kept this long after their final state, rounded up to whole days. */
    historyRetention: duration('1d', '365d'),

    /** Test events that an account may request in a minute. */
    testLimit: count(1, 1_000),
    /** Resends that may be requested for one webhook in a minute. */
    resendLimit: count(1, 10_000),

    /** Concurrent executions that the account has in this Region (Lambda's quota L-B99A9384): 10 in a new account. */
    accountConcurrency: count(1, 1_000_000),
    /** Reserved concurrency of the token function: it limits what password hashes may cost. */
    tokenConcurrency: reservation,
    /** Reserved concurrency of the webhooks API: registrations that wait for slow name servers must not starve delivery. */
    apiConcurrency: reservation,
    /**
     * Bulkhead of the first lane: batches of first attempts that are processed at once.
     * @default - 5 % of `accountConcurrency`, and 2 at least: 50 of 1,000
     */
    firstConcurrency: places(),
    /** Bulkhead of the retry lane: batches of retries that are processed at once. @default - 2 %, and 2 at least */
    retryConcurrency: places(),
    /** Bulkhead of the slow lane: batches of attempts at slow webhooks that are processed at once. @default - as the retry lane */
    slowConcurrency: places(),
    /**
     * Throttling at the gateway: requests a second that a route takes in the long run, and at once. Each route has its own, so that a
     * flood of one takes nothing from another. Over all routes at most 1,250 a second and 600 at once. This one: the token endpoint.
     */
    tokenRateLimit: count(1, 10_000),
    tokenBurstLimit: count(1, 5_000),
    /** The same of each other route of {auth_url} where clients authenticate: revoke and introspect. */
    authRateLimit: count(1, 10_000),
    authBurstLimit: count(1, 5_000),
    /** The same of each route of {base_url} that takes an access token. */
    managementRateLimit: count(1, 10_000),
    managementBurstLimit: count(1, 5_000),
    /** The same of each route that anybody may ask: the documents under /.well-known, and on each host all paths that are unknown. */
    publicRateLimit: count(1, 10_000),
    publicBurstLimit: count(1, 5_000),

    logRetentionDays: count(1, 3653).refine(
      days => (retentionDays as readonly number[]).includes(days),
      `must be one of ${retentionDays.join(', ')}`,
    ),
    /** The fate of tables, keys, queues and logs when a stack is deleted. */
    removalPolicy: z.enum(['retain', 'destroy'], 'must be retain or destroy'),
    /** Makes stacks and tables refuse to be deleted. Off for the first deployment: a failed one must be deleted first. */
    protection: flag,
    /** The owner of the key that tables and queues are encrypted with: AWS, or this account, whose key policy then decides. */
    encryption: z.enum(['aws-owned', 'customer-managed'], 'must be aws-owned or customer-managed'),
    /** Shifts traffic to a release of the functions behind the APIs bit by bit, and takes the release back when they fail. */
    gradual: flag,

    /** A receiver for the smoke test, which answers 2xx. @default - a function of the stage's own */
    smokeReceiverUrl: httpsUrl.optional(),
    /** The interval at which the stage tests itself, in whole minutes. @default - only when asked to */
    smokeSchedule: duration('5m', '12h')
      .refine(value => value % 60_000 === 0, 'must be whole minutes')
      .optional(),
  })
  .refine(value => !value.authDomain === !value.authCertificateArn, {
    path: ['authCertificateArn'],
    message: 'must be given together with authDomain',
  })
  .superRefine((value, context) => {
    const home = `:acm:${value.region}:${value.account}:`;
    for (const key of ['authCertificateArn', 'baseCertificateArn'] as const) {
      if (!value.account || !value[key] || value[key].includes(home)) continue;
      context.addIssue({ code: 'custom', path: [key], message: "must be of the stage's own account and Region" });
    }
  })
  .superRefine(({ accountConcurrency, tokenConcurrency, apiConcurrency, smokeReceiverUrl }, context) => {
    if (tokenConcurrency + apiConcurrency === 0) return; // the receiver alone does without where there is no room
    const hasReceiver = smokeReceiverUrl === undefined;
    const reserved = tokenConcurrency + apiConcurrency + (hasReceiver ? receiverReservation : 0);
    if (accountConcurrency >= reserved + unreservedConcurrency) return;
    const whose = hasReceiver
      ? 'tokenConcurrency, apiConcurrency and the receiver of smoke tests'
      : 'tokenConcurrency and apiConcurrency';
    context.addIssue({
      code: 'custom',
      path: ['accountConcurrency'],
      message: `must be ${reserved + unreservedConcurrency} at least, because ${whose} reserve ${reserved} and Lambda keeps ${unreservedConcurrency} for all other functions: have the quota raised (Service Quotas, AWS Lambda, Concurrent executions), or set tokenConcurrency and apiConcurrency to 0`,
    });
  })
  .refine(
    ({ smokeReceiverUrl, authDomain, baseDomain }) =>
      smokeReceiverUrl === undefined || ![authDomain, baseDomain].includes(new URL(smokeReceiverUrl).hostname),
    { path: ['smokeReceiverUrl'], message: 'must not be authDomain or baseDomain: Emissor never delivers to itself' },
  )
  .refine(value => !value.account === !value.region, {
    path: ['region'],
    message: 'must be given together with account',
  })
  .refine(value => value.encryption === 'aws-owned' || value.account !== undefined, {
    path: ['encryption'],
    message: 'must be aws-owned where account and region are not given', // the template of a table names its key's Region
  })
  .refine(value => value.removalPolicy === 'retain' || !value.protection, {
    path: ['protection'],
    message: 'must be false where removalPolicy is destroy',
  })
  .refine(value => !value.baseDomain === !value.baseCertificateArn, {
    path: ['baseCertificateArn'],
    message: 'must be given together with baseDomain',
  });

/**
 * Concurrent executions that cannot be reserved:
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
 */
const unreservedConcurrency = 100;

/** Returns the schema of a duration with a unit (`500ms`, `5s`, `30m`, `2h`, `14d`), from `least` up to `most`, parsed to milliseconds. */
function duration(least: string, most: string) {
  return z
    .string('must be a whole number with a unit: 500ms, 5s, 30m, 2h or 14d')
    .regex(/^\d{1,9}(ms|s|m|h|d)$/, 'must be a whole number with a unit: 500ms, 5s, 30m, 2h or 14d')
    .transform(millisecondsOf)
    .refine(value => value >= millisecondsOf(least) && value <= millisecondsOf(most), `must be ${least} to ${most}`);
}

/** Returns the schema of an exact ARN of a service's resource. */
function arn(service: string, region: string, resource: RegExp, what: string) {
  const form = new RegExp(`^arn:aws[a-z-]*:${service}:${region}:\\d{12}:${resource.source}$`);
  return z.string().regex(form, `must be ARNs ${what}`);
}

/** Texts in an array, or with commas between them. */
function list(item: z.ZodType<string, string>, most: number) {
  return z
    .union([z.array(z.string()), z.string().transform(text => text.split(',').map(part => part.trim()))])
    .pipe(z.array(item).max(most, `must be ${most} at most`));
}

function count(least: number, most: number) {
  return z
    .union([z.int(), z.string().regex(/^\d+$/).transform(Number)], `must be a whole number from ${least} to ${most}`)
    .pipe(z.int().min(least, `must be ${least} to ${most}`).max(most, `must be ${least} to ${most}`));
}

/** Returns the schema of a lane's places. */
function places() {
  return count(2, mostPlaces).optional();
}

function millisecondsOf(value: string): number {
  return Number.parseInt(value, 10) * (unitMilliseconds[value.replace(/^\d+/, '')] ?? 0);
}

/** The names of all stage values. */
const stageKeys: readonly string[] = Object.keys(schema.shape);

function isStageKey(key: string): boolean {
  return stageKeys.includes(key);
}

const defaults: StageFile = {
  alarmRecipients: [],
  publisherRoles: [],
  publisherTopics: [],
  publisherRules: [],
  noticeAccounts: [],
  authDomainRole: 'only',
  baseDomainRole: 'only',
  accountConcurrency: 10,
  accessTokenLifetime: '900s',
  refreshIdleLifetime: '14d',
  refreshAbsoluteLifetime: '90d',
  signingAlgorithm: 'ES256',
  keyRotationPeriod: '90d',
  addressFailureLimit: 100,
  clientFailureLimit: 300,
  passwordMinimumLength: 15,
  invalidGrantSurge: 500,
  retrySchedule: '5s,5m,30m,2h,5h,10h,14h,20h,24h',
  attemptTimeout: '15s',
  giveUp: 'waiting',
  slowRate: 20,
  provisionedPollers: 0,
  historyRetention: '30d',
  testLimit: 10,
  resendLimit: 60,
  tokenConcurrency: 0,
  apiConcurrency: 0,
  tokenRateLimit: 300,
  tokenBurstLimit: 150,
  authRateLimit: 100,
  authBurstLimit: 40,
  managementRateLimit: 50,
  managementBurstLimit: 25,
  publicRateLimit: 20,
  publicBurstLimit: 15,
  logRetentionDays: 30,
  removalPolicy: 'retain',
  protection: false,
  encryption: 'aws-owned',
  gradual: false,
};
