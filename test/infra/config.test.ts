import { describe, expect, it } from 'vitest';
import { maxRetryAfter } from '../../lambdas/delivery/backoff.ts';
import { maxAge } from '../../lambdas/delivery/transitions.ts';
import { contextConfiguration, stageConfiguration } from '../../lib/config.ts';
import { ConfigurationError, stageNames } from '../../lib/stage-files.ts';
import { authDomain, baseDomain, required } from './templates.ts';

// A stage is a file (ADR 16); a value that AWS or the service would reject later is rejected in one line before the deployment.

const prod = (overrides: Record<string, unknown> = {}) =>
  stageConfiguration('prod', { ...required.prod, ...overrides });
const dev = (overrides: Record<string, unknown> = {}) => stageConfiguration('dev', overrides);

describe('the configuration of a stage', () => {
  it('is that of dev by default, and exists for each file', () => {
    expect(contextConfiguration({ '@aws-cdk/core:some': true }).stage).toBe('dev');
    expect(stageNames()).toEqual(['dev', 'local', 'prod']);
  });

  it.each([
    ['dev', { clientFailureLimit: 300, registrationLimit: 30, accountConcurrency: 10, tokenConcurrency: 0 }],
    ['prod', { clientFailureLimit: 300, registrationLimit: 30, attemptTimeout: 15_000, tokenConcurrency: 100 }],
    ['local', { clientFailureLimit: 100_000, registrationLimit: 100_000 }],
  ] as const)('of %s has these limits: %j', (stage, limits) => {
    expect(stageConfiguration(stage, required[stage])).toMatchObject({ stage, ...limits });
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

  it('of any other stage is its file alone, because the next deployment would undo a value of the command line', () => {
    const attempt = () => contextConfiguration({ stage: 'prod', ...required.prod });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(
      /^Stage prod: account, region, .* was given by -c, .* Set it in stages\/prod.ts instead\.$/,
    );
  });

  it('of prod, as it is committed, names the values that are missing; the other stages have all', () => {
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
  ])('of a stage with customers is not complete without %s', (key, value) => {
    const attempt = () => prod({ [key]: value });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(new RegExp(`^Stage prod: stages/prod.ts must set ${key} \\(`));
  });
});

describe('a value', () => {
  it('of the retry schedule is by default ten attempts over three days', () => {
    const { retrySchedule } = prod();
    expect(retrySchedule).toHaveLength(9);
    expect(retrySchedule.reduce((sum, wait) => sum + wait) / 3_600_000).toBeCloseTo(75.6, 1);
  });

  // Bug: from its tenth day on an overdue delivery ended at its turn, though it had attempts left.
  it('of the retry schedule must end before a delivery ends for its age, after one Retry-After', () => {
    expect(() => prod({ retrySchedule: '7d,48h' })).not.toThrow();
    expect(() => prod({ retrySchedule: '7d,48h,100ms' })).toThrow(
      /: retrySchedule must be at most 9d in total: .* Remove or shorten waits\.$/,
    );
    expect(maxAge - maxRetryAfter).toBe(9 * 86_400_000);
  });

  it('of the shortest password is 15 characters by default, and never less than 8', () => {
    const least = (passwordMinimumLength?: number) =>
      dev(passwordMinimumLength === undefined ? {} : { passwordMinimumLength }).passwordMinimumLength;
    expect([least(), least(8), least(256)]).toEqual([15, 8, 256]);
    for (const value of [0, 7, 257]) expect(() => least(value)).toThrow('passwordMinimumLength must be 8 to 256');
  });

  it.each([
    [10, [2, 2, 2]],
    [100, [5, 2, 2]],
    [1_000, [50, 20, 20]],
    [10_000, [500, 200, 60]],
    [1_000_000, [1_000, 1_000, 60]],
  ])('of %s for the concurrency of the account gives the lanes %j', (accountConcurrency, lanes) => {
    const { firstConcurrency, retryConcurrency, slowConcurrency } = dev({ accountConcurrency });
    expect([firstConcurrency, retryConcurrency, slowConcurrency]).toEqual(lanes);
  });

  it('of the concurrency of the account may be reserved but for 100', () => {
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
  ])('of %s %s', (key, message) => {
    for (const value of ['', 'many', '-1', '2.5', null])
      expect(() => dev({ [key]: value }), String(value)).toThrow(`Stage dev: ${key} ${message}.`);
  });

  it.each([
    ['retrySchedule', '100ms', '7d'],
    ['attemptTimeout', '100ms', '20s'],
  ])('of %s is a duration from %s to %s', (key, least, most) => {
    for (const value of [least, most]) expect(() => dev({ [key]: value })).not.toThrow();
    for (const value of ['0s', '0ms', '999999999d', '366000d', `${Number.parseInt(most, 10) + 1}${most.at(-1)}`])
      expect(() => dev({ [key]: value }), value).toThrow(`${key} must be ${least} to ${most}`);
    for (const value of ['', '-1s', '1.5s', '1w', '1 s', '9999999999s', 's', 5])
      expect(() => dev({ [key]: value }), String(value)).toThrow(ConfigurationError);
  });
});

describe('an error', () => {
  const domainForm = /: \w+Domain must have name and certificateArn, and nothing else\.$/;
  const tagForm = /: tags must map names, other than service and stage, to values: .*\.$/;
  const { name, certificateArn } = authDomain.authDomain;

  it.each<[Record<string, unknown>, RegExp]>([
    [{ demandsUlr: 'https://x.com.br' }, /Unknown stage value "demandsUlr"\. .*demandsUrl/], // no default is deployed
    [{ account: '111122223333' }, /region must be given together with account/],
    [{ account: 111122223333 }, /account must be .* 12 digits .*, in quotes\./],
    [{ account: '1', region: 'sa-east-1' }, /account must be the 12 digits/],
    [{ account: '111122223333', region: 'Brazil' }, /region must be an AWS Region/],
    [{ retrySchedule: ['5s'] }, /retrySchedule must be one string with commas/],
    [{ alarmRecipients: 'ops' }, /alarmRecipients must be e-mail addresses/],
    // Bug: the synthesis ended with a stack trace of the CDK.
    [{ alarmRecipients: ['a@x.com', 'b@x.com', 'a@x.com'] }, /: alarmRecipients must not repeat an entry\.$/],
    [{ noticeAccounts: 111122223333 }, /noticeAccounts must be an array of strings, or one/],
    [{ smokeReceiverUrl: 'receiver' }, /smokeReceiverUrl must be an https URL\.$/],
    [{ smokeSchedule: '4m' }, /smokeSchedule must be 5m to 12h/],
    [{ smokeSchedule: '13h' }, /smokeSchedule must be 5m to 12h/],
    [{ smokeSchedule: '301s' }, /smokeSchedule must be whole minutes/],
    [{ tags: { owner: 'a;b' } }, tagForm],
    [{ tags: { 'aws:owner': 'ana' } }, tagForm],
    [{ tags: { stage: 'other' } }, tagForm],
    [{ tags: 'owner=ana' }, tagForm],
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
    [{ baseDomain: 'api.emissor.com.br' }, domainForm],
    [{ baseDomain: { ...baseDomain.baseDomain, role: 'only' } }, domainForm],
  ])('of one line rejects %j on dev', (overrides, message) => expectError('dev', overrides, message));

  it.each<[Record<string, unknown>, RegExp]>([
    [
      { ...baseDomain, smokeReceiverUrl: `https://${baseDomain.baseDomain.name}/hook` },
      /: smokeReceiverUrl must not be authDomain or baseDomain: Emissor never delivers to itself\.$/,
    ],
    [
      { accountConcurrency: 201 },
      /accountConcurrency must be at least 202, because tokenConcurrency and the receiver of smoke tests reserve 102 .*Service Quotas/,
    ],
    [
      { accountConcurrency: 199, smokeReceiverUrl: 'https://smoke.emissor.com.br' },
      /accountConcurrency must be at least 200, because tokenConcurrency reserve 100 /,
    ],
    // Bug: the lanes used all concurrency that is not reserved, and the sweeper was throttled.
    [
      { accountConcurrency: 10_000, tokenConcurrency: 9_800 },
      /accountConcurrency must be at least 10564, .* reserve 9802 and all other functions need 762\. /,
    ],
    // Bug: AWS rejected it in the middle of the update.
    [
      { ...authDomain, baseDomain: authDomain.authDomain },
      /: baseDomain must not be authDomain: each API needs its own host\.$/,
    ],
    [
      { authDomain: { name, certificateArn: certificateArn.replace('sa-east-1', 'us-east-1') } },
      /authDomain certificateArn must be in the account and Region of the stage/,
    ],
  ])('of one line rejects %j on prod', (overrides, message) =>
    expectError('prod', { ...required.prod, ...overrides }, message),
  );

  it.each(['no-such-stage', '../lib/config'])('of one line rejects the stage %s, and names those with a file', stage =>
    expectError(stage, {}, /Unknown stage ".*": the stages are .*prod.*stages\/prod\.ts/),
  );

  function expectError(stage: string, overrides: Record<string, unknown>, message: RegExp): void {
    const attempt = () => stageConfiguration(stage, overrides);
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow(/\n/);
  }
});
