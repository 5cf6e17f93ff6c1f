import { describe, expect, it } from 'vitest';
import { maxRetryAfter } from '../../lambdas/delivery/backoff.ts';
import { maxAge } from '../../lambdas/delivery/transitions.ts';
import { contextConfiguration, stageConfiguration } from '../../lib/config.ts';
import { ConfigurationError, stageNames } from '../../lib/stage-files.ts';
import { authDomain, baseDomain, required } from './templates.ts';

const prod = (overrides: Record<string, unknown> = {}) =>
  stageConfiguration('prod', { ...required.prod, ...overrides });

const domainForm = /: \w+Domain must have name and certificateArn, and nothing else\.$/;
const tagForm = /: tags must map names, other than service and stage, to values: .*\.$/;

describe('the stage configuration', () => {
  it('is dev by default', () => {
    expect(contextConfiguration({ '@aws-cdk/core:some': true }).stage).toBe('dev');
  });

  it('knows the stages that have a file', () => {
    expect(stageNames()).toEqual(['dev', 'local', 'prod']);
    for (const name of stageNames()) expect(stageConfiguration(name, required[name]).stage).toBe(name);
  });

  it('lets a client fail 300 times a minute, and an account register 30 times; both 100,000 times in the local run', () => {
    const limits = stageNames().map(name => {
      const { clientFailureLimit, registrationLimit } = stageConfiguration(name, required[name]);
      return [name, clientFailureLimit, registrationLimit];
    });
    expect(limits).toEqual([
      ['dev', 300, 30],
      ['local', 100_000, 100_000],
      ['prod', 300, 30],
    ]);
  });

  it.each(['local', 'dev'])('of %s takes any value from the context, with units for durations', stage => {
    const context = {
      stage,
      retrySchedule: '1s, 2m,3h',
      registrationLimit: '7',
      alarmRecipients: 'a@x.com.br, b@x.com.br',
    };
    expect(contextConfiguration({ ...context, gradual: 'true' })).toMatchObject({
      retrySchedule: [1_000, 120_000, 10_800_000],
      registrationLimit: 7,
      alarmRecipients: ['a@x.com.br', 'b@x.com.br'],
      gradual: true,
    });
  });

  it('of any other stage is its file alone, since the next deployment would undo a value of the command line', () => {
    const attempt = () => contextConfiguration({ stage: 'prod', ...required.prod });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(/^Stage prod: account, region, .* was given by -c, .* write it into stages\/prod.ts\.$/);
  });

  it('refuses unknown values, so that a typo never deploys a default', () => {
    expect(() => contextConfiguration({ stage: 'dev', demandsUlr: 'https://x.com.br' })).toThrow(/demandsUlr/);
  });

  it('has the default retry schedule of ten attempts over three days', () => {
    const { retrySchedule } = prod();
    expect(retrySchedule).toHaveLength(9);
    expect(retrySchedule.reduce((sum, wait) => sum + wait) / 3_600_000).toBeCloseTo(75.6, 1);
  });

  // Bug: from its tenth day on a delivery that was late ended at its turn, though it had attempts left.
  it('takes no schedule that is not over before a delivery ends for its age, with room for one Retry-After', () => {
    expect(() => prod({ retrySchedule: '7d,48h' })).not.toThrow();
    expect(() => prod({ retrySchedule: '7d,48h,100ms' })).toThrow(
      /: retrySchedule must be 9d at most in all, .*: leave out waits, or shorten them\.$/,
    );
    expect(maxAge - maxRetryAfter).toBe(9 * 86_400_000);
  });

  it.each([
    ['account', ''],
    ['region', undefined],
    ['demandsUrl', ''],
    ['alarmRecipients', []],
  ])('is not complete without %s in a stage that has customers', (key, value) => {
    const attempt = () => prod({ [key]: value });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(new RegExp(`^Stage prod: stages/prod.ts must give ${key} \\(`));
  });

  it('of prod, as it is committed, says all that must be filled in', () => {
    const attempt = () => contextConfiguration({ stage: 'prod' });
    expect(attempt).toThrow(/must give account \(.*, region \(.*, demandsUrl \(.*, alarmRecipients \(/);
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
    [10, [2, 2, 2]],
    [100, [5, 2, 2]],
    [1_000, [50, 20, 20]],
    [10_000, [500, 200, 60]],
    [1_000_000, [1_000, 1_000, 60]],
  ])('gives the lanes their part of an account of %s: %j', (accountConcurrency, places) => {
    const { firstConcurrency, retryConcurrency, slowConcurrency } = stageConfiguration('dev', { accountConcurrency });
    expect([firstConcurrency, retryConcurrency, slowConcurrency]).toEqual(places);
  });

  it.each([
    ['accountConcurrency', 'must be a whole number from 10 to 1000000'],
    ['tokenConcurrency', 'must be a whole number from 0 to 10000'],
    ['logRetentionDays', 'must be a whole number from 1 to 3653'],
    ['signingAlgorithm', 'must be ES256 or RS256'],
    ['removalPolicy', 'must be retain or destroy'],
  ])('says what %s must be', (key, message) => {
    for (const value of ['', 'many', '-1', '2.5', null]) {
      expect(() => stageConfiguration('dev', { [key]: value }), String(value)).toThrow(`Stage dev: ${key} ${message}.`);
    }
  });

  it.each([
    ['retrySchedule', '100ms', '7d'],
    ['attemptTimeout', '100ms', '20s'],
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
    ['an unknown stage', 'no-such-stage', {}, /Unknown stage "no-such-stage": the stages are .*prod.*stages\/prod\.ts/],
    ['a stage that is a path', '../lib/config', {}, /Unknown stage/],
    ['half an address', 'dev', { account: '111122223333' }, /region must be given together with account/],
    ['an account without quotes', 'dev', { account: 111122223333 }, /account must be .* 12 digits .*, in quotes\./],
    ['a schedule in an array', 'dev', { retrySchedule: ['5s'] }, /retrySchedule must be one text with commas/],
    ['an account that is none', 'dev', { account: '1', region: 'sa-east-1' }, /account must be the 12 digits/],
    ['a Region that is none', 'dev', { account: '111122223333', region: 'Brazil' }, /region must be an AWS Region/],
    ['a recipient without an address', 'dev', { alarmRecipients: 'ops' }, /alarmRecipients must be e-mail addresses/],
    // Bug: the synthesis ended with a stack trace of the CDK.
    [
      'a recipient who is named twice',
      'dev',
      { alarmRecipients: ['ops@example.com', 'on-call@example.com', 'ops@example.com'] },
      /: alarmRecipients must name each only once\.$/,
    ],
    [
      'a number for a list',
      'dev',
      { noticeAccounts: 111122223333 },
      /noticeAccounts must be an array of texts, or one/,
    ],
    ['a receiver that is no URL', 'dev', { smokeReceiverUrl: 'receiver' }, /smokeReceiverUrl must be an https URL\.$/],
    [
      'a receiver at a host of Emissor itself',
      'prod',
      { ...required.prod, ...baseDomain, smokeReceiverUrl: `https://${baseDomain.baseDomain.name}/hook` },
      /: smokeReceiverUrl must not be authDomain or baseDomain: Emissor never delivers to itself\.$/,
    ],
    ['a test every four minutes', 'dev', { smokeSchedule: '4m' }, /smokeSchedule must be 5m to 12h/],
    ['a test after 13 hours', 'dev', { smokeSchedule: '13h' }, /smokeSchedule must be 5m to 12h/],
    ['a test after 301 seconds', 'dev', { smokeSchedule: '301s' }, /smokeSchedule must be whole minutes/],
    ['a tag that AWS refuses', 'dev', { tags: { owner: 'a;b' } }, tagForm],
    ['a key of a tag that AWS refuses', 'dev', { tags: { 'aws:owner': 'ana' } }, tagForm],
    ['a tag that each stage has', 'dev', { tags: { stage: 'other' } }, tagForm],
    ['tags as text', 'dev', { tags: 'owner=ana' }, tagForm],
    ['a word for a switch', 'dev', { gradual: 'yes' }, /gradual must be true or false/],
    ['protection of what is to be destroyed', 'dev', { protection: 'true' }, /protection must be false where/],
    ['an unknown value', 'dev', { retrySchedul: '1s' }, /Unknown stage value "retrySchedul": .*retrySchedule/],
    ['a time without a unit', 'dev', { attemptTimeout: '15' }, /attemptTimeout must be .* unit/],
    [
      'fewer executions than a new account has',
      'dev',
      { accountConcurrency: '9' },
      /accountConcurrency must be 10 to 1000000/,
    ],
    ['a retention CloudWatch does not have', 'dev', { logRetentionDays: '2' }, /logRetentionDays must be one of/],
    ['a page with a fragment', 'dev', { docsUrl: 'https://docs.example.com/#x' }, /docsUrl must not have a fragment/],
    ['a page over plain http', 'dev', { docsUrl: 'http://docs.example.com/' }, /docsUrl must be an https URL/],
    ['no registrations at all', 'dev', { registrationLimit: '0' }, /registrationLimit must be 1 to 1000000/],
    ['plain http links', 'dev', { demandsUrl: 'http://demandas.example.com' }, /demandsUrl must be an https URL/],
    [
      'reservations that do not fit into the account',
      'prod',
      { ...required.prod, accountConcurrency: 201 },
      /accountConcurrency must be 202 at least, because tokenConcurrency and the receiver of smoke tests reserve 102 .*Service Quotas/,
    ],
    [
      'reservations that do not fit beside a receiver elsewhere',
      'prod',
      { ...required.prod, accountConcurrency: 199, smokeReceiverUrl: 'https://smoke.emissor.com.br' },
      /accountConcurrency must be 200 at least, because tokenConcurrency reserve 100 /,
    ],
    ['a reservation in a new account', 'dev', { tokenConcurrency: 1 }, /accountConcurrency must be 103 at least/],
    // Bug: the lanes took all that functions share, and the sweeper was throttled.
    [
      'lanes that leave nothing beside reservations',
      'prod',
      { ...required.prod, accountConcurrency: 10_000, tokenConcurrency: 9_800 },
      /accountConcurrency must be 10564 at least, .* reserve 9802 and all other functions need 762: /,
    ],
    [
      'a domain without certificate',
      'dev',
      { authDomain: { name: 'auth.emissor.com.br' } },
      /: authDomain certificateArn must be the ARN of an ACM certificate\.$/,
    ],
    [
      'a domain that is no host name',
      'dev',
      { baseDomain: { ...baseDomain.baseDomain, name: 'x' } },
      /: baseDomain name must be a host name in lower case\.$/,
    ],
    ['a domain without a certificate, as text', 'dev', { baseDomain: 'api.emissor.com.br' }, domainForm],
    ['a domain with more than it has', 'dev', { baseDomain: { ...baseDomain.baseDomain, role: 'only' } }, domainForm],
    // Bug: AWS refused it in the middle of the update.
    [
      'one domain for both',
      'prod',
      { ...required.prod, ...authDomain, ...baseDomain, baseDomain: authDomain.authDomain },
      /: baseDomain must not be authDomain: each API has a host of its own\.$/,
    ],
    [
      'a certificate of another Region',
      'prod',
      {
        ...required.prod,
        authDomain: {
          name: 'auth.emissor.com.br',
          certificateArn: 'arn:aws:acm:us-east-1:111122223333:certificate/0a1b',
        },
      },
      /authDomain certificateArn must be of the stage's own account and Region/,
    ],
  ])('refuses %s in one line', (_case, stage, overrides, message) => {
    const attempt = () => stageConfiguration(stage, overrides);
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow(/\n/);
  });
});

describe('the concurrency of an account', () => {
  it('may be reserved but for 100', () => {
    const fits = (values: Record<string, unknown>) => stageConfiguration('prod', { ...required.prod, ...values });
    expect(() => fits({ accountConcurrency: 202 })).not.toThrow();
    expect(() => fits({ accountConcurrency: 200, smokeReceiverUrl: 'https://smoke.emissor.com.br' })).not.toThrow();
  });

  it('need not be known where nothing is reserved', () => {
    expect(stageConfiguration('dev')).toMatchObject({ accountConcurrency: 10, tokenConcurrency: 0 });
  });
});

describe('the defaults', () => {
  it('are the documented ones', () => {
    expect(prod()).toMatchObject({
      attemptTimeout: 15_000,
      tokenConcurrency: 100,
    });
  });
});
