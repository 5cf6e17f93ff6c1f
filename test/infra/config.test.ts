import { describe, expect, it } from 'vitest';
import { ConfigurationError, contextConfiguration, stageConfiguration, stageNames } from '../../lib/config.ts';

describe('the stage configuration', () => {
  it('is dev when nobody says otherwise', () => {
    expect(contextConfiguration({ '@aws-cdk/core:some': true }).stage).toBe('dev');
  });

  it.each(stageNames)('knows the stage %s', stage => {
    expect(contextConfiguration({ stage }).stage).toBe(stage);
  });

  it('takes any value from the context, with units where it is a time', () => {
    const context = { stage: 'prod', retrySchedule: '1s, 2m,3h', apiRateLimit: '7' };
    expect(contextConfiguration(context)).toMatchObject({
      retrySchedule: [1_000, 120_000, 10_800_000],
      apiRateLimit: 7,
    });
  });

  it('gives slow attempts up where messages wait, and pays for no pollers, unless told otherwise', () => {
    expect(stageConfiguration('prod')).toMatchObject({ giveUp: 'waiting', slowRate: 20, provisionedPollers: 0 });
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
    ['another way to give up', 'dev', { giveUp: 'never' }, /giveUp/],
    ['no turns at all', 'dev', { slowRate: '0' }, /slowRate must be 1 to 1000/],
    [
      'one poller, of which AWS takes no fewer than two',
      'dev',
      { provisionedPollers: '1' },
      /provisionedPollers must be 0, or 2 to 200/,
    ],
    ['a retention CloudWatch does not have', 'dev', { logRetentionDays: '2' }, /logRetentionDays must be one of/],
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
