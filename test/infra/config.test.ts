import { describe, expect, it } from 'vitest';
import { ConfigurationError, contextConfiguration, stageConfiguration, stageNames } from '../../lib/config.ts';

const demandsUrl = 'https://demandas.emissor.com.br';

describe('the stage configuration', () => {
  it('is dev by default', () => {
    expect(contextConfiguration({ '@aws-cdk/core:some': true }).stage).toBe('dev');
  });

  it.each(stageNames)('knows the stage %s', stage => {
    expect(contextConfiguration({ stage, demandsUrl }).stage).toBe(stage);
  });

  it('lets one IP address fail 100 times a minute, and 100,000 times in the local run', () => {
    const limits = stageNames.map(stage => [stage, stageConfiguration(stage, { demandsUrl }).addressFailureLimit]);
    expect(limits).toEqual([
      ['local', 100_000],
      ['dev', 100],
      ['prod', 100],
    ]);
  });

  it('takes any value from the context, with units for durations', () => {
    const context = { stage: 'prod', demandsUrl, retrySchedule: '1s, 2m,3h', apiRateLimit: '7' };
    expect(contextConfiguration(context)).toMatchObject({
      retrySchedule: [1_000, 120_000, 10_800_000],
      apiRateLimit: 7,
    });
  });

  it('by default gives slow attempts up while messages wait, and provisions no pollers', () => {
    expect(stageConfiguration('dev')).toMatchObject({ giveUp: 'waiting', slowRate: 20, provisionedPollers: 0 });
  });

  it('refuses unknown values, so that a typo never deploys a default', () => {
    expect(() => contextConfiguration({ stage: 'prod', demandsUlr: 'https://x.com.br' })).toThrow(/demandsUlr/);
  });

  it('has the default retry schedule of ten attempts over three days', () => {
    const { retrySchedule } = stageConfiguration('prod', { demandsUrl });
    expect(retrySchedule).toHaveLength(9);
    expect(retrySchedule.reduce((sum, wait) => sum + wait) / 3_600_000).toBeCloseTo(75.6, 1);
  });

  it('does not synthesise prod with links to an example', () => {
    const attempt = () => contextConfiguration({ stage: 'prod' });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(/^Stage prod: demandsUrl must be given, .*-c demandsUrl=https:\/\//);
    for (const stage of ['local', 'dev']) {
      expect(contextConfiguration({ stage }).demandsUrl).toBe('https://demandas.example.com');
    }
  });

  it('requires passwords of 15 characters by default, and never fewer than 8', () => {
    const least = (value?: number) =>
      stageConfiguration('dev', value === undefined ? {} : { passwordMinimumLength: value }).passwordMinimumLength;
    expect([least(), least(8), least(256)]).toEqual([15, 8, 256]);
    for (const value of [0, 7, 257]) expect(() => least(value)).toThrow('passwordMinimumLength must be 8 to 256');
  });

  it.each([
    ['firstConcurrency', 'must be a whole number from 2 to 1000'],
    ['tokenConcurrency', 'must be a whole number from 0 to 10000'],
    ['logRetentionDays', 'must be a whole number from 1 to 3653'],
    ['signingAlgorithm', 'must be ES256 or RS256'],
    ['giveUp', 'must be waiting or always'],
    ['removalPolicy', 'must be retain or destroy'],
  ])('says what %s must be', (key, message) => {
    for (const value of ['', 'many', '-1', '2.5', null]) {
      expect(() => stageConfiguration('dev', { [key]: value }), String(value)).toThrow(`Stage dev: ${key} ${message}.`);
    }
  });

  it.each([
    ['accessTokenLifetime', '1s', '24h'],
    ['refreshIdleLifetime', '1s', '365d'],
    ['refreshAbsoluteLifetime', '1s', '730d'],
    ['keyRotationPeriod', '1d', '730d'],
    ['retrySchedule', '100ms', '7d'],
    ['attemptTimeout', '100ms', '20s'],
    ['historyRetention', '1d', '365d'],
  ])('takes %s from %s to %s, and says so of what is not', (key, least, most) => {
    for (const value of [least, most]) expect(() => stageConfiguration('dev', { [key]: value })).not.toThrow();
    for (const value of ['0s', '0ms', '999999999d', '366000d', `${Number.parseInt(most, 10) + 1}${most.at(-1)}`]) {
      expect(() => stageConfiguration('dev', { [key]: value }), value).toThrow(`${key} must be ${least} to ${most}`);
    }
    for (const value of ['', '-1s', '1.5s', '1w', '1 s', '9999999999s', 's', 5]) {
      expect(() => stageConfiguration('dev', { [key]: value }), String(value)).toThrow(ConfigurationError);
    }
  });

  it.each([
    ['an unknown stage', 'staging', {}, /Unknown stage "staging": the stages are local, dev, prod/],
    ['an unknown value', 'dev', { retrySchedul: '1s' }, /Unknown stage value "retrySchedul": .*retrySchedule/],
    ['a time without a unit', 'dev', { attemptTimeout: '15' }, /attemptTimeout must be .* unit/],
    ['an attempt longer than its function', 'dev', { attemptTimeout: '30s' }, /attemptTimeout must be 100ms to 20s/],
    ['an empty schedule', 'dev', { retrySchedule: '' }, /retrySchedule/],
    ['a number out of range', 'dev', { firstConcurrency: '1' }, /firstConcurrency must be 2 to 1000/],
    ['another way to give up', 'dev', { giveUp: 'never' }, /giveUp/],
    ['no attempts at slow webhooks', 'dev', { slowRate: '0' }, /slowRate must be 1 to 1000/],
    [
      'one poller, of which AWS takes no fewer than two',
      'dev',
      { provisionedPollers: '1' },
      /provisionedPollers must be 0, or 2 to 200/,
    ],
    ['a retention CloudWatch does not have', 'dev', { logRetentionDays: '2' }, /logRetentionDays must be one of/],
    ['a page with a fragment', 'dev', { docsUrl: 'https://docs.example.com/#x' }, /docsUrl must not have a fragment/],
    ['a page over plain http', 'dev', { docsUrl: 'http://docs.example.com/' }, /docsUrl must be an https URL/],
    ['no tests at all', 'dev', { testLimit: '0' }, /testLimit must be 1 to 1000/],
    ['no resends at all', 'dev', { resendLimit: '0' }, /resendLimit must be 1 to 10000/],
    ['plain http links', 'dev', { demandsUrl: 'http://demandas.example.com' }, /demandsUrl must be an https URL/],
    ['a missing value', 'dev', { demandsUrl: '' }, /demandsUrl must be an https URL/],
    [
      'a domain without certificate',
      'prod',
      { demandsUrl, authDomain: 'auth.emissor.com.br' },
      /authCertificateArn .*go together/,
    ],
  ])('refuses %s in one line', (_case, stage, overrides, message) => {
    const attempt = () => stageConfiguration(stage, overrides);
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow(/\n/);
  });
});

describe('the defaults', () => {
  it('are the documented ones', () => {
    const [minute, day] = [60_000, 86_400_000];
    expect(stageConfiguration('prod', { demandsUrl })).toMatchObject({
      accessTokenLifetime: 15 * minute,
      refreshIdleLifetime: 14 * day,
      refreshAbsoluteLifetime: 90 * day,
      keyRotationPeriod: 90 * day,
      attemptTimeout: 15_000,
      historyRetention: 30 * day,
      tokenConcurrency: 100,
      apiConcurrency: 100,
    });
  });
});
