import { describe, expect, it } from 'vitest';
import { ConfigurationError, contextConfiguration, stageConfiguration, stageNames } from '../../lib/config.ts';

describe('the stage configuration', () => {
  it('is dev when nobody says otherwise', () => {
    expect(contextConfiguration({ '@aws-cdk/core:some': true }).stage).toBe('dev');
  });

  it.each(stageNames)('knows the stage %s', stage => {
    expect(contextConfiguration({ stage }).stage).toBe(stage);
  });

  it('lets one address fail 100 times a minute, and 100,000 times on this machine', () => {
    const limits = stageNames.map(stage => [stage, stageConfiguration(stage).addressFailureLimit]);
    expect(limits).toEqual([
      ['local', 100_000],
      ['dev', 100],
      ['prod', 100],
    ]);
  });

  it('takes any value from the context, with units where it is a time', () => {
    const context = { stage: 'prod', retrySchedule: '1s, 2m,3h', apiRateLimit: '7' };
    expect(contextConfiguration(context)).toMatchObject({
      retrySchedule: [1_000, 120_000, 10_800_000],
      apiRateLimit: 7,
    });
  });

  it('refuses what looks like a value but is none, so that a typo never deploys a default', () => {
    expect(() => contextConfiguration({ stage: 'prod', demandsUlr: 'https://x.com.br' })).toThrow(/demandsUlr/);
  });

  it('has the default retry schedule of ten attempts over three days', () => {
    const { retrySchedule } = stageConfiguration('prod');
    expect(retrySchedule).toHaveLength(9);
    expect(retrySchedule.reduce((sum, wait) => sum + wait) / 3_600_000).toBeCloseTo(75.6, 1);
  });

  it.each([
    ['an unknown stage', 'staging', {}, /Unknown stage "staging": the stages are local, dev, prod/],
    ['an unknown value', 'dev', { retrySchedul: '1s' }, /Unknown stage value "retrySchedul": .*retrySchedule/],
    ['a time without a unit', 'dev', { attemptTimeout: '15' }, /attemptTimeout must be .* unit/],
    ['an attempt longer than its function', 'dev', { attemptTimeout: '30s' }, /attemptTimeout must be 100ms to 20s/],
    ['an empty schedule', 'dev', { retrySchedule: '' }, /retrySchedule/],
    ['a number out of range', 'dev', { firstAttemptConcurrency: '1' }, /firstAttemptConcurrency must be 2 to 1000/],
    ['a retention CloudWatch does not have', 'dev', { logRetentionDays: '2' }, /logRetentionDays must be one of/],
    ['a page with a fragment', 'dev', { docsUrl: 'https://docs.example.com/#x' }, /docsUrl must not have a fragment/],
    ['a page over plain http', 'dev', { docsUrl: 'http://docs.example.com/' }, /docsUrl must be an https URL/],
    ['no tests at all', 'dev', { testLimit: '0' }, /testLimit must be 1 to 1000/],
    ['no resends at all', 'dev', { resendLimit: '0' }, /resendLimit must be 1 to 10000/],
    ['plain http links', 'dev', { demandsUrl: 'http://demandas.example.com' }, /demandsUrl must be an https URL/],
    ['a missing value', 'dev', { demandsUrl: '' }, /demandsUrl must be an https URL/],
    ['a domain without certificate', 'prod', { authDomain: 'auth.emissor.com.br' }, /authCertificateArn .*go together/],
  ])('refuses %s in one line', (_case, stage, overrides, message) => {
    const attempt = () => stageConfiguration(stage, overrides);
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow(/\n/);
  });
});

describe('the defaults', () => {
  it('are the lifetimes and times that are documented', () => {
    const [minute, day] = [60_000, 86_400_000];
    expect(stageConfiguration('prod')).toMatchObject({
      accessTokenLifetime: 15 * minute,
      refreshIdleLifetime: 14 * day,
      refreshAbsoluteLifetime: 90 * day,
      keyRotationPeriod: 90 * day,
      attemptTimeout: 15_000,
      historyRetention: 30 * day,
      tokenConcurrency: 100,
    });
  });
});
