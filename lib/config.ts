import * as z from 'zod';

/** The stages that can be deployed; `local` is the one that `npm start` runs. */
export const stageNames = ['local', 'dev', 'prod'] as const;

/** The name of a stage. */
export type StageName = (typeof stageNames)[number];

/** An unknown stage, an unknown key or an invalid value. The message is one line for the operator. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** All values that may differ between stages; durations are in milliseconds. */
export type StageConfiguration = z.output<typeof schema> & { readonly stage: StageName };

/**
 * The configuration of one stage: its defaults, replaced by `overrides` where those name a value.
 *
 * @throws {ConfigurationError} for an unknown stage, an unknown key or an invalid value.
 */
export function stageConfiguration(name: unknown, overrides: Record<string, unknown> = {}): StageConfiguration {
  if (!isStageName(name)) {
    throw new ConfigurationError(`Unknown stage "${String(name)}": the stages are ${stageNames.join(', ')}.`);
  }
  const unknown = Object.keys(overrides).find(key => !stageKeys.some(known => known === key));
  if (unknown) {
    throw new ConfigurationError(`Unknown stage value "${unknown}": the values are ${stageKeys.join(', ')}.`);
  }
  const values: Record<string, unknown> = { ...defaults, ...stages[name], ...overrides };
  if (values.demandsUrl === undefined) {
    throw new ConfigurationError(
      `Stage ${name}: demandsUrl must be given, since links in events begin with it: -c demandsUrl=https://YOUR-DEMANDS-HOST.`,
    );
  }
  const result = schema.safeParse(values);
  if (result.success) return { stage: name, ...result.data };
  const problems = result.error.issues.map(issue => `${issue.path[0]?.toString() ?? 'configuration'} ${issue.message}`);
  throw new ConfigurationError(`Stage ${name}: ${[...new Set(problems)].join('; ')}.`);
}

/**
 * The configuration that the context of a CDK app asks for: `-c stage=NAME` (default `dev`), and any stage value as
 * `-c KEY=VALUE`.
 *
 * @throws {ConfigurationError} for an unknown stage, an unknown key or an invalid value.
 */
export function contextConfiguration(context: Readonly<Record<string, unknown>>): StageConfiguration {
  const { stage = 'dev', ...others } = context;
  // The CDK's own keys all contain a colon or a slash. A key without one was meant for us, perhaps misspelt.
  const overrides = Object.entries(others).filter(([key]) => !/[:/]/.test(key));
  return stageConfiguration(stage, Object.fromEntries(overrides));
}

const unitMilliseconds: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A reserved concurrency. 0 means none: the function shares the account's unreserved concurrency. */
const reservation = count(0, 10_000);

const httpsUrl = z
  .url({ protocol: /^https$/, error: 'must be an https URL' })
  .refine(value => !value.endsWith('/'), 'must not end in a slash');

const hostName = z.string().regex(/^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'must be a host name in lower case');
const certificateArn = z.string().startsWith('arn:', 'must be the ARN of an ACM certificate');

/** The retention periods that CloudWatch Logs accepts. */
const retentionDays = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653] as const;

const schema = z
  .strictObject({
    /** Public URL of the demands pages: links in events begin with it. */
    demandsUrl: httpsUrl,
    /** The page that documents the error codes of {base_url}: the `type` of a problem is this URL, `#` and the code. */
    docsUrl: z
      .url({ protocol: /^https$/, error: 'must be an https URL' })
      .refine(value => !value.includes('#'), 'must not have a fragment')
      .optional(),
    /** Custom domain of {auth_url}, with its certificate. Without one, API Gateway's own host is used. */
    authDomain: hostName.optional(),
    authCertificateArn: certificateArn.optional(),
    /** Custom domain of {base_url}, with its certificate. */
    baseDomain: hostName.optional(),
    baseCertificateArn: certificateArn.optional(),

    /** Lifetime of an access token: a day at most. */
    accessTokenLifetime: duration('1s', '24h'),
    /** Idle lifetime of a session: it ends when it was not used for this long. */
    refreshIdleLifetime: duration('1s', '365d'),
    /** Absolute lifetime of a session: it ends this long after the login, used or not. MAC keys are kept as long. */
    refreshAbsoluteLifetime: duration('1s', '730d'),
    signingAlgorithm: z.enum(['ES256', 'RS256'], 'must be ES256 or RS256'),
    /** Age at which a signing key is replaced. The rotation looks once a day. */
    keyRotationPeriod: duration('1d', '730d'),
    /** Failed client authentications that one IP address may cause in a minute. */
    addressFailureLimit: count(1, 1_000_000),
    /** Refused passwords that one client may cause in a minute. */
    clientFailureLimit: count(1, 1_000_000),
    /** Minimum length of a password that an operator sets, in characters. */
    passwordMinimumLength: count(8, 256),

    /** The alarm on refused grants goes off above this number in five minutes. */
    invalidGrantSurge: count(1, 1_000_000),

    /** The backoff: waits between attempts, before jitter. n waits make n + 1 attempts. */
    retrySchedule: z
      .string()
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

    /** Reserved concurrency of the token function: it limits what password hashes may cost. */
    tokenConcurrency: reservation,
    /** Reserved concurrency of the webhooks API: registrations that wait for slow name servers must not starve delivery. */
    apiConcurrency: reservation,
    /** Bulkhead of the first lane: batches of first attempts that are processed at once. */
    firstConcurrency: count(2, 1_000),
    /** Bulkhead of the retry lane: batches of retries that are processed at once. */
    retryConcurrency: count(2, 1_000),
    /** Bulkhead of the slow lane: batches of attempts at slow webhooks that are processed at once. */
    slowConcurrency: count(2, 1_000),
    /** Throttling of each API: requests a second in the long run, and in a burst. */
    apiRateLimit: count(1, 10_000),
    apiBurstLimit: count(1, 5_000),

    logRetentionDays: count(1, 3653).refine(
      days => (retentionDays as readonly number[]).includes(days),
      `must be one of ${retentionDays.join(', ')}`,
    ),
    /** Whether tables, keys and logs remain when a stack is deleted. */
    removalPolicy: z.enum(['retain', 'destroy'], 'must be retain or destroy'),
  })
  .refine(value => !value.authDomain === !value.authCertificateArn, {
    path: ['authCertificateArn'],
    message: 'authDomain and authCertificateArn go together',
  })
  .refine(value => !value.baseDomain === !value.baseCertificateArn, {
    path: ['baseCertificateArn'],
    message: 'baseDomain and baseCertificateArn go together',
  });

/** A duration with a unit (`500ms`, `5s`, `30m`, `2h`, `14d`), from `least` up to `most`, parsed to milliseconds. */
function duration(least: string, most: string) {
  return z
    .string('must be a whole number with a unit: 500ms, 5s, 30m, 2h or 14d')
    .regex(/^\d{1,9}(ms|s|m|h|d)$/, 'must be a whole number with a unit: 500ms, 5s, 30m, 2h or 14d')
    .transform(millisecondsOf)
    .refine(value => value >= millisecondsOf(least) && value <= millisecondsOf(most), `must be ${least} to ${most}`);
}

function count(least: number, most: number) {
  return z
    .union([z.int(), z.string().regex(/^\d+$/).transform(Number)], `must be a whole number from ${least} to ${most}`)
    .pipe(z.int().min(least, `must be ${least} to ${most}`).max(most, `must be ${least} to ${most}`));
}

function millisecondsOf(value: string): number {
  return Number.parseInt(value, 10) * (unitMilliseconds[value.replace(/^\d+/, '')] ?? 0);
}

function isStageName(name: unknown): name is StageName {
  return stageNames.some(known => known === name);
}

/** The names of all stage values. */
const stageKeys = Object.keys(schema.shape) as readonly (keyof typeof schema.shape)[];

const defaults: Omit<z.input<typeof schema>, 'demandsUrl'> = {
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
  firstConcurrency: 50,
  retryConcurrency: 20,
  slowConcurrency: 20,
  apiRateLimit: 500,
  apiBurstLimit: 500,
  logRetentionDays: 30,
  removalPolicy: 'retain',
};

/** Used by stages without customers. `prod` has no default, because its links go to customers. */
const exampleDemandsUrl = 'https://demandas.example.com';

const stages: Record<StageName, Partial<z.input<typeof schema>>> = {
  local: {
    demandsUrl: exampleDemandsUrl,
    addressFailureLimit: 100_000,
    clientFailureLimit: 100_000,
    apiRateLimit: 10_000,
    apiBurstLimit: 5_000,
    // Small, because the lanes share this machine, and each consumer makes a hundred attempts at once.
    firstConcurrency: 4,
    retryConcurrency: 2,
    slowConcurrency: 2,
    logRetentionDays: 1,
    removalPolicy: 'destroy',
  },
  dev: { demandsUrl: exampleDemandsUrl, logRetentionDays: 7, removalPolicy: 'destroy' },
  prod: { logRetentionDays: 365, tokenConcurrency: 100, apiConcurrency: 100 },
};
