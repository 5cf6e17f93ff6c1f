import { describe, expect, it } from 'vitest';
import { maxRetryAfter } from '../../lambdas/delivery/backoff.ts';
import { maxAge } from '../../lambdas/delivery/transitions.ts';
import { contextConfiguration, stageConfiguration } from '../../lib/config.ts';
import { ConfigurationError, stageNames } from '../../lib/stage-files.ts';
import { authDomain, baseDomain, requiredValues } from './templates.ts';

// Each stage is a file (ADR 16). Before a deployment, one-line errors report values that AWS or the service would reject later.

const prod = (overrides: Record<string, unknown> = {}) =>
  stageConfiguration('prod', { ...requiredValues.prod, ...overrides });
const dev = (overrides: Record<string, unknown> = {}) => stageConfiguration('dev', overrides);

describe('the configuration of a stage', () => {
  it('is the configuration of dev by default', () => {
    expect(contextConfiguration({ '@aws-cdk/core:some': true }).stage).toBe('dev');
    expect(stageNames()).toEqual(['dev', 'local', 'prod']);
  });

  it.each([
    ['dev', { clientFailureLimit: 300, registrationLimit: 30, accountConcurrency: 10, tokenConcurrency: 0 }],
    ['prod', { clientFailureLimit: 300, registrationLimit: 30, attemptTimeout: 15_000, tokenConcurrency: 100 }],
    ['local', { clientFailureLimit: 100_000, registrationLimit: 100_000 }],
  ] as const)('of %s has the limits %j', (stage, limits) => {
    expect(stageConfiguration(stage, requiredValues[stage])).toMatchObject({ stage, ...limits });
  });

  it.each(['local', 'dev'])('of %s accepts any value from the context, with units for durations', stage => {
    const lists = { retrySchedule: '1s, 2m,3h', alarmRecipients: 'a@x.com.br, b@x.com.br' };
    expect(contextConfiguration({ stage, ...lists, registrationLimit: '7', gradual: 'true' })).toMatchObject({
      retrySchedule: [1_000, 120_000, 10_800_000],
      registrationLimit: 7,
      alarmRecipients: ['a@x.com.br', 'b@x.com.br'],
      gradual: true,
    });
  });

  it('of any other stage accepts no values from the context, because the next deployment would undo them', () => {
    const attempt = () => contextConfiguration({ stage: 'prod', ...requiredValues.prod });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(
      /^Stage prod: the next deployment would undo -c account, region, .*\. Set values in stages\/prod\.ts instead\.$/,
    );
  });

  it('is complete for local and dev, but lacks required values in the committed file of prod', () => {
    const attempt = () => contextConfiguration({ stage: 'prod' });
    expect(attempt).toThrow(/must set account \(.*, region \(.*, demandsUrl \(.*, alarmRecipients \(/);
    for (const stage of ['local', 'dev'])
      expect(contextConfiguration({ stage }).demandsUrl).toBe('https://demandas.example.com');
  });

  it.each([
    ['account', ''],
    ['region', undefined],
    ['demandsUrl', ''],
    ['alarmRecipients', []],
  ])('of a stage with customers requires %s', (key, value) => {
    const attempt = () => prod({ [key]: value });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(new RegExp(`^Stage prod: stages/prod.ts must set ${key} \\(`));
  });
});

describe('the stage value', () => {
  it('retrySchedule has 9 waits over 3 days by default', () => {
    const { retrySchedule } = prod();
    expect(retrySchedule).toHaveLength(9);
    expect(retrySchedule.reduce((sum, wait) => sum + wait) / 3_600_000).toBeCloseTo(75.6, 1);
  });

  // Bug: from the 10th day on, an overdue delivery ended although attempts were left.
  it('retrySchedule ends at least 1 day before the maximum age of a delivery, which leaves time for one Retry-After', () => {
    expect(() => prod({ retrySchedule: '7d,48h' })).not.toThrow();
    expect(() => prod({ retrySchedule: '7d,48h,100ms' })).toThrow(
      /: retrySchedule must be at most 9d in total: .* Remove or shorten waits\.$/,
    );
    expect(maxAge - maxRetryAfter).toBe(9 * 86_400_000);
  });

  it('passwordMinimumLength is 15 by default and must be at least 8', () => {
    const minimumOf = (passwordMinimumLength?: number) =>
      dev(passwordMinimumLength === undefined ? {} : { passwordMinimumLength }).passwordMinimumLength;
    expect([minimumOf(), minimumOf(8), minimumOf(256)]).toEqual([15, 8, 256]);
    for (const value of [0, 7, 257]) expect(() => minimumOf(value)).toThrow('passwordMinimumLength must be 8 to 256');
  });

  it.each([
    [10, [2, 2, 2]],
    [100, [5, 2, 2]],
    [1_000, [50, 20, 20]],
    [10_000, [500, 200, 60]],
    [1_000_000, [1_000, 1_000, 60]],
  ])('accountConcurrency %s gives the lanes %j', (accountConcurrency, lanes) => {
    const { firstConcurrency, retryConcurrency, slowConcurrency } = dev({ accountConcurrency });
    expect([firstConcurrency, retryConcurrency, slowConcurrency]).toEqual(lanes);
  });

  it('accountConcurrency may leave only 100 unreserved executions', () => {
    expect(() => prod({ accountConcurrency: 202 })).not.toThrow();
    const smokeReceiverUrl = 'https://smoke.emissor.com.br';
    expect(() => prod({ accountConcurrency: 200, smokeReceiverUrl })).not.toThrow();
  });

  it.each([
    ['accountConcurrency', 'must be a whole number from 10 to 1000000'],
    ['tokenConcurrency', 'must be a whole number from 0 to 10000'],
    ['logRetentionDays', 'must be a whole number from 1 to 3653'],
    ['signingAlgorithm', 'must be ES256 or RS256'],
    ['removalPolicy', 'must be retain or destroy'],
  ])('%s %s', (key, message) => {
    for (const value of ['', 'many', '-1', '2.5', null])
      expect(() => dev({ [key]: value }), String(value)).toThrow(`Stage dev: ${key} ${message}.`);
  });

  it.each([
    ['retrySchedule', '100ms', '7d'],
    ['attemptTimeout', '100ms', '20s'],
  ])('%s is a duration from %s to %s', (key, min, max) => {
    for (const value of [min, max]) expect(() => dev({ [key]: value })).not.toThrow();
    for (const value of ['0s', '0ms', '999999999d', '366000d', `${Number.parseInt(max, 10) + 1}${max.at(-1)}`])
      expect(() => dev({ [key]: value }), value).toThrow(`${key} must be ${min} to ${max}`);
    for (const value of ['', '-1s', '1.5s', '1w', '1 s', '9999999999s', 's', 5])
      expect(() => dev({ [key]: value }), String(value)).toThrow(ConfigurationError);
  });
});

describe('a one-line error', () => {
  const domainMessage = /: \w+Domain must have only name and certificateArn\.$/;
  const tagMessage = /: tags must map names .* to values .* except the names service, stage and aws:\*\.$/;
  const { name, certificateArn } = authDomain.authDomain;

  it.each<[Record<string, unknown>, RegExp]>([
    [{ demandsUlr: 'https://x.com.br' }, /Unknown stage value "demandsUlr"\. .*demandsUrl/], // otherwise, a misspelt key would deploy the default
    [{ account: '111122223333' }, /account and region must be set together/],
    [{ account: 111122223333 }, /account must be .* 12 digits .*, in quotes\./],
    [{ account: '1', region: 'sa-east-1' }, /account must be the 12 digits/],
    [{ account: '111122223333', region: 'Brazil' }, /region must be an AWS Region/],
    [{ retrySchedule: ['5s'] }, /retrySchedule must be a comma-separated string/],
    [{ alarmRecipients: 'ops' }, /alarmRecipients must be e-mail addresses/],
    // Bug: the synthesis failed with a stack trace of the CDK.
    [{ alarmRecipients: ['a@x.com', 'b@x.com', 'a@x.com'] }, /: alarmRecipients must not repeat an entry\.$/],
    [{ noticeAccounts: 111122223333 }, /noticeAccounts must be a string array or a comma/],
    [{ smokeReceiverUrl: 'receiver' }, /smokeReceiverUrl must be an https URL\.$/],
    [{ smokeSchedule: '4m' }, /smokeSchedule must be 5m to 12h/],
    [{ smokeSchedule: '13h' }, /smokeSchedule must be 5m to 12h/],
    [{ smokeSchedule: '301s' }, /smokeSchedule must be whole minutes/],
    [{ tags: { owner: 'a;b' } }, tagMessage],
    [{ tags: { 'aws:owner': 'ana' } }, tagMessage],
    [{ tags: { stage: 'other' } }, tagMessage],
    [{ tags: 'owner=ana' }, tagMessage],
    [{ gradual: 'yes' }, /gradual must be true or false/],
    [{ protection: 'true' }, /protection must be false if/],
    [{ attemptTimeout: '15' }, /attemptTimeout must be .* unit/],
    [{ accountConcurrency: '9' }, /accountConcurrency must be 10 to 1000000/],
    [{ tokenConcurrency: 1 }, /accountConcurrency must be at least 103/],
    [{ logRetentionDays: '2' }, /logRetentionDays must be one of/],
    [{ docsUrl: 'https://docs.example.com/#x' }, /docsUrl must not have a fragment/],
    [{ docsUrl: 'http://docs.example.com/' }, /docsUrl must be an https URL/],
    [{ demandsUrl: 'http://demandas.example.com' }, /demandsUrl must be an https URL/],
    [{ registrationLimit: '0' }, /registrationLimit must be 1 to 1000000/],
    [{ authDomain: { name } }, /: authDomain certificateArn must be the ARN of an ACM certificate\.$/],
    [{ baseDomain: { name: 'x', certificateArn } }, /: baseDomain name must be a host name in lower case\.$/],
    [{ baseDomain: 'api.emissor.com.br' }, domainMessage],
    [{ baseDomain: { ...baseDomain.baseDomain, role: 'only' } }, domainMessage],
  ])('rejects %j on dev', (overrides, message) => expectError('dev', overrides, message));

  it.each<[Record<string, unknown>, RegExp]>([
    [
      { ...baseDomain, smokeReceiverUrl: `https://${baseDomain.baseDomain.name}/hook` },
      /: smokeReceiverUrl must not be authDomain or baseDomain: Emissor never delivers to itself\.$/,
    ],
    [
      { accountConcurrency: 201 },
      /accountConcurrency must be at least 202, because tokenConcurrency and the smoke receiver reserve 102 .*Service Quotas/,
    ],
    [
      { accountConcurrency: 199, smokeReceiverUrl: 'https://smoke.emissor.com.br' },
      /accountConcurrency must be at least 200, because tokenConcurrency reserves 100 /,
    ],
    // Bug: the lanes used all unreserved concurrency, and Lambda throttled the sweeper.
    [
      { accountConcurrency: 10_000, tokenConcurrency: 9_800 },
      /accountConcurrency must be at least 10564, .* reserve 9802 and all other functions need 762\. /,
    ],
    // Bug: AWS rejected this value during the deployment.
    [
      { ...authDomain, baseDomain: authDomain.authDomain },
      /: baseDomain must not be authDomain: each API needs its own host\.$/,
    ],
    [
      { authDomain: { name, certificateArn: certificateArn.replace('sa-east-1', 'us-east-1') } },
      /authDomain certificateArn must be in the account and Region of the stage/,
    ],
  ])('rejects %j on prod', (overrides, message) =>
    expectError('prod', { ...requiredValues.prod, ...overrides }, message),
  );

  it.each(['no-such-stage', '../lib/config'])('rejects the stage %s, and lists the stages that have a file', stage =>
    expectError(stage, {}, /Unknown stage ".*": the stages are .*prod.*stages\/prod\.ts/),
  );

  function expectError(stage: string, overrides: Record<string, unknown>, message: RegExp): void {
    const attempt = () => stageConfiguration(stage, overrides);
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow(/\n/);
  }
});
