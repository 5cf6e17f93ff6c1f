import { describe, expect, it } from 'vitest';
import { maxDeletionMs, maxStepsMs } from '../../lambdas/smoke/smoke-test.ts';
import { hasSmokeStack, stageConfiguration } from '../../lib/config.ts';
import { casesOf } from '../support/sample.ts';
import { isOwn, required, resourcesOf, stacksOf, stageTemplates } from './templates.ts';

const url = 'https://smoke.emissor.com.br/hook';

describe('the stack for smoke tests', () => {
  it.each([
    ['a stage', 'prod', {}, true],
    [
      'a stage with a receiver elsewhere and no schedule',
      'prod',
      { smokeReceiverUrl: url, smokeSchedule: undefined },
      false,
    ],
    ['… and a schedule', 'prod', { smokeReceiverUrl: url, smokeSchedule: '1h' }, true],
    ['the local run', 'local', {}, false],
  ])('is there where it is needed: %s', (_case, stage, overrides, expected) => {
    const ids = stacksOf(stage, overrides).map(({ node }) => node.id);
    expect(ids.includes(`Emissor-${stage}-Smoke`)).toBe(expected);
    expect(hasSmokeStack(stageConfiguration(stage, { ...required[stage], ...overrides }))).toBe(expected);
  });

  it('can lose its schedule: what it imports stays exported', () => {
    const [before, after] = [stageTemplates('prod'), stageTemplates('prod', { smokeSchedule: undefined })];
    const imports = JSON.stringify(before.Smoke.toJSON()).match(/(?<="Fn::ImportValue":")[^"]+/g) ?? [];
    const exports = [after.Data, after.Delivery].flatMap(template =>
      Object.values(template.toJSON().Outputs as Record<string, { Export?: { Name: string } }>).map(
        ({ Export }) => Export?.Name,
      ),
    );
    expect(imports.filter(name => name.includes('EventsQueue'))).not.toEqual([]);
    expect(exports).toEqual(expect.arrayContaining(imports));
  });
});

/** It has the id of the stage's key: a stage that is made anew has another, and opens no secret of the one before. */
const parameterName = (key: unknown): unknown => ({
  'Fn::Join': [
    '',
    [
      '/emissor/prod/smoke/',
      {
        'Fn::Select': [
          1,
          {
            'Fn::Split': ['/', key],
          },
        ],
      },
      '/credentials',
    ],
  ],
});

describe('the time of the scheduled test', () => {
  it('is enough for the steps and deleting the webhook', () => {
    const { Smoke } = stageTemplates('prod');
    const [timeout = 0] = resourcesOf(Smoke, 'AWS::Lambda::Function')
      .filter(([, { Properties }]) => Properties.Environment?.Variables.CREDENTIALS_PARAMETER)
      .map(([, { Properties }]) => Properties.Timeout * 1_000);
    expect(timeout).toBeGreaterThan(maxStepsMs + maxDeletionMs);
  });
});

describe('the receiver of a stage', () => {
  const { Smoke } = stageTemplates('prod');

  it('has a public URL, which is an output', () => {
    const [[id, { Properties }] = ['', { Properties: {} }]] = resourcesOf(Smoke, 'AWS::Lambda::Url');
    expect(Properties.AuthType).toBe('NONE');
    Smoke.hasOutput('SmokeReceiverUrl', { Value: { 'Fn::GetAtt': [id, 'FunctionUrl'] } });
    const actions = resourcesOf(Smoke, 'AWS::Lambda::Permission').map(([, permission]) => permission.Properties);
    expect(actions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ Action: 'lambda:InvokeFunctionUrl', FunctionUrlAuthType: 'NONE', Principal: '*' }),
        expect.objectContaining({ Action: 'lambda:InvokeFunction', InvokedViaFunctionUrl: true, Principal: '*' }),
      ]),
    );
  });

  const accounts = [
    [1_000, 100, 2],
    [202, 100, 2],
    [102, 0, 2],
    [101, 0, undefined],
    [10, 0, undefined],
  ] as const;
  it.each(casesOf(accounts, 2))(
    'reserves concurrency where an account of %d leaves 100 for all others',
    (accountConcurrency, others, expected) => {
      const reserved = { accountConcurrency, tokenConcurrency: others };
      const [[, { Properties }] = ['', { Properties: {} }]] = resourcesOf(
        stageTemplates('dev', reserved).Smoke,
        'AWS::Lambda::Function',
      );
      expect(Properties.ReservedConcurrentExecutions).toBe(expected);
    },
  );
});

describe('the scheduled test', () => {
  it('is there in prod, unless its file says otherwise', () => {
    expect(stageConfiguration('prod', required.prod).smokeSchedule).toBe(900_000);
  });

  const { Smoke } = stageTemplates('prod');

  it('rings when a test failed, and when none ran for twice its interval', () => {
    const [[, { Properties }] = ['', { Properties: {} }], ...others] = resourcesOf(Smoke, 'AWS::CloudWatch::Alarm');
    expect(others).toEqual([]);
    expect(Properties).toMatchObject({ EvaluationPeriods: 1, TreatMissingData: 'breaching' });
    expect(Properties.Metrics).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          MetricStat: {
            Metric: {
              Namespace: 'AWS/Lambda',
              MetricName: 'Errors',
              Dimensions: [{ Name: 'FunctionName', Value: { Ref: expect.stringMatching(/^ScheduledTest/) } }],
            },
            Period: 1_800,
            Stat: 'Sum',
          },
        }),
      ]),
    );
  });

  it('is not tried again where it failed', () => {
    const [[, { Properties }] = ['', { Properties: {} }]] = resourcesOf(Smoke, 'AWS::Lambda::EventInvokeConfig');
    expect(Properties).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 300 });
    expect(JSON.stringify(Properties.Qualifier)).toContain('ScheduledTestLive');
  });

  it('is given the parameter that is an output of the stage', () => {
    const [[, { Properties }] = ['', { Properties: {} }]] = resourcesOf(Smoke, 'AWS::Lambda::Function').filter(([id]) =>
      id.startsWith('ScheduledTest'),
    );
    const imported = { 'Fn::ImportValue': expect.stringMatching(/^Emissor-prod-Data:ExportsOutputFnGetAttKey.*Arn/) };
    expect(Properties.Environment.Variables.CREDENTIALS_PARAMETER).toEqual(parameterName(imported));
    const own = { 'Fn::GetAtt': [expect.stringMatching(/^Key/), 'Arn'] };
    const { Outputs } = stageTemplates('prod').Data.toJSON();
    expect(Outputs.SmokeCredentialsParameter.Value).toEqual(parameterName(own));
    expect(stageTemplates('local').Data.toJSON().Outputs).not.toHaveProperty('SmokeCredentialsParameter');
  });

  it('is given the receiver that is configured', () => {
    const other = stageTemplates('prod', { smokeReceiverUrl: url }).Smoke;
    const variables = resourcesOf(other, 'AWS::Lambda::Function')
      .filter(isOwn)
      .map(([, { Properties }]) => Properties.Environment.Variables.RECEIVER_URL);
    expect(variables).toEqual([url, undefined]); // the hook before traffic needs none
  });
});
