import { describe, expect, it } from 'vitest';
import { maxEarlyStop, timeAroundAttempt } from '../../lambdas/delivery/consumer/batch-consumer.ts';
import { maxDeletionMs, maxStepsMs } from '../../lambdas/smoke/smoke-test.ts';
import { casesOf } from '../support/sample.ts';
import {
  authDomain,
  baseDomain,
  isServiceFunction,
  propertiesOf,
  resolveIntrinsics,
  resourcesOf,
  stageTemplates,
  withoutHash,
} from './templates.ts';

// Each function has the settings of `NodeFunction` and the settings in its row. docs/capacity.md explains memory and timeouts.

const stage = stageTemplates('prod', { tokenConcurrency: 40 });
const functions = resourcesOf(stage, 'AWS::Lambda::Function').filter(isServiceFunction);
const rows: Readonly<Record<string, object>> = {
  Token: { MemorySize: 1_769, Timeout: 15, ReservedConcurrentExecutions: 40 }, // hashes passwords
  Revoke: { MemorySize: 512, Timeout: 10 },
  Introspect: { MemorySize: 512, Timeout: 10 },
  Discovery: { MemorySize: 512, Timeout: 5 },
  RotateKeys: { MemorySize: 512, Timeout: 60 },
  WebhooksApi: { MemorySize: 1_024, Timeout: 20 },
  DeliveriesApi: { MemorySize: 1_024, Timeout: 20 },
  DeliverFirst: { MemorySize: 1_024, Timeout: 60 },
  // By default, Lambda stops a loop after about 16 invocations, but the retries of a delivery need more.
  DeliverRetry: { MemorySize: 1_024, Timeout: 60, RecursiveLoop: 'Allow' },
  DeliverSlow: { MemorySize: 1_024, Timeout: 60, RecursiveLoop: 'Allow' },
  Sweep: { MemorySize: 1_024, Timeout: 55 },
  ScheduledTest: { MemorySize: 512, Timeout: 170 },
  Receiver: { MemorySize: 256, Timeout: 10, ReservedConcurrentExecutions: 2 }, // has a public URL
  ReleasesPreTraffic: { MemorySize: 256, Timeout: 900 },
};

/** Returns the values of an environment variable, by function. */
const variable = (name: string, of = stage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(propertiesOf(of, 'AWS::Lambda::Function')).flatMap(([id, { Environment }]) =>
      Environment?.Variables[name] === undefined ? [] : [[id, Environment.Variables[name]]],
    ),
  );

describe('every function', () => {
  it('has the common settings and those in its row, and no others such as a VPC', () => {
    expect(functions).toHaveLength(17); // the hook is in four stacks
    expect(new Set(functions.map(([id]) => withoutHash(id)))).toEqual(new Set(Object.keys(rows)));
    for (const [id, { Properties }] of functions) {
      const { Code, Description, Environment, Role, ...settings } = Properties;
      expect(settings, id).toEqual({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        LoggingConfig: {
          LogFormat: 'JSON',
          LogGroup: { Ref: expect.stringMatching(new RegExp(`^${withoutHash(id)}Logs[0-9A-F]{8}$`)) },
          SystemLogLevel: 'WARN',
        },
        ...rows[withoutHash(id)],
      });
    }
  });

  it('has a role with the stage and Region in its path, which preflight checks', () => {
    const roles = new Map(resourcesOf(stage, 'AWS::IAM::Role'));
    for (const [id, { Properties }] of functions)
      expect(roles.get(Properties.Role['Fn::GetAtt'][0])?.Properties.Path, id).toBe('/emissor/prod/sa-east-1/');
  });

  it('has a timeout that exceeds the time limits of its work', () => {
    for (const [id, { Properties }] of functions) {
      const { ATTEMPT_TIMEOUT_MS, CREDENTIALS_PARAMETER } = Properties.Environment.Variables;
      const attempt = ATTEMPT_TIMEOUT_MS ? Number(ATTEMPT_TIMEOUT_MS) + timeAroundAttempt + maxEarlyStop : 0;
      const test = CREDENTIALS_PARAMETER ? maxStepsMs + maxDeletionMs : 0;
      expect(Properties.Timeout * 1_000, id).toBeGreaterThan(Math.max(attempt, test));
    }
    expect(Object.keys(variable('ATTEMPT_TIMEOUT_MS'))).toHaveLength(3);
    expect(Object.keys(variable('CREDENTIALS_PARAMETER'))).toHaveLength(1);
  });
});

describe('scheduled functions', () => {
  it('have the expected schedules', () => {
    const rules = Object.values(propertiesOf(stage, 'AWS::Events::Rule'));
    expect(rules.map(({ Targets, ScheduleExpression, State }) => [Targets[0].Arn, ScheduleExpression, State])).toEqual([
      ['RotateKeysLive', 'rate(1 day)', 'ENABLED'],
      ['SweepLive', 'rate(1 minute)', 'ENABLED'],
      ['ScheduledTestLive', 'rate(15 minutes)', 'ENABLED'],
    ]);
  });

  it('are not retried by Lambda if their schedule is frequent', () => {
    expect(Object.values(propertiesOf(stage, 'AWS::Lambda::EventInvokeConfig'))).toEqual([
      {
        FunctionName: 'Sweep',
        Qualifier: '7 of SweepLive by :',
        MaximumEventAgeInSeconds: 60,
        MaximumRetryAttempts: 0,
      },
      {
        FunctionName: 'ScheduledTest',
        Qualifier: '7 of ScheduledTestLive by :',
        MaximumEventAgeInSeconds: 300,
        MaximumRetryAttempts: 0,
      },
    ]);
  });
});

describe('the environment variables of functions', () => {
  const withDomains = stageTemplates('prod', { ...authDomain, ...baseDomain });
  const gateway = (api: string) => `2 of ${api}EndpointApi.ApiEndpoint by /`;
  const gateways = [gateway('Auth'), gateway('Base')];
  const verifiers = ['Introspect', 'Revoke', 'Token', 'DeliveriesApi', 'WebhooksApi'];
  const all = (names: readonly string[], value: unknown) => Object.fromEntries(names.map(name => [name, value]));

  it.each([
    ['without custom domains', stage, 'AuthEndpointApi.ApiEndpoint', 'BaseEndpointApi.ApiEndpoint', gateways],
    [
      'with custom domains, and with the hosts of the gateway still blocked as receivers',
      withDomains,
      'https://auth.emissor.com.br',
      'https://api.emissor.com.br',
      ['auth.emissor.com.br', gateways[0], 'api.emissor.com.br', gateways[1]],
    ],
  ])('contain the hosts of the service %s', (_case, of, issuer, audience, hosts) => {
    expect(variable('ISSUER', of)).toEqual(all([...verifiers, 'Discovery'], issuer));
    expect(variable('AUDIENCE', of)).toEqual(all(verifiers, audience));
    const checking = ['WebhooksApi', 'DeliverFirst', 'DeliverRetry', 'DeliverSlow'];
    expect(variable('OWN_HOSTS', of)).toEqual(all(checking, hosts.join(',')));
  });

  it('contain the release, the stage’s limits, and the parameter for the smoke-test credentials', () => {
    for (const [id, { Properties }] of functions) expect(Properties.Environment.Variables.RELEASE, id).toBe('test');
    expect(variable('CLIENT_FAILURE_LIMIT')).toEqual({ Token: '300' });
    // The name contains the key's id, because the key of a recreated stage cannot decrypt the old credentials.
    const parameter = (key: string) => `/emissor/prod/smoke/1 of ${key} by //credentials`;
    expect(variable('CREDENTIALS_PARAMETER')).toEqual({ ScheduledTest: parameter('Key.Arn') });
  });

  it('contain the external smoke-test receiver of the stage', () => {
    expect(variable('RECEIVER_URL')).toEqual({ ScheduledTest: 'ReceiverFunctionUrl.FunctionUrl' });
    const smokeReceiverUrl = 'https://smoke.emissor.com.br/hook';
    expect(variable('RECEIVER_URL', stageTemplates('prod', { smokeReceiverUrl }))).toEqual({
      ScheduledTest: smokeReceiverUrl,
    });
  });
});

describe('the smoke-test receiver', () => {
  it('has a public URL as an output', () => {
    expect(propertiesOf(stage.Smoke, 'AWS::Lambda::Url')).toEqual({
      ReceiverFunctionUrl: { AuthType: 'NONE', TargetFunctionArn: 'Receiver.Arn' },
    });
    expect(resolveIntrinsics(stage.Smoke.toJSON().Outputs.SmokeReceiverUrl.Value)).toBe(
      'ReceiverFunctionUrl.FunctionUrl',
    );
    const permissions = Object.values(propertiesOf(stage.Smoke, 'AWS::Lambda::Permission'));
    const open = { FunctionName: 'Receiver.Arn', Principal: '*' };
    expect(permissions.filter(({ Principal }) => Principal === '*')).toEqual([
      { ...open, Action: 'lambda:InvokeFunctionUrl', FunctionUrlAuthType: 'NONE' },
      { ...open, Action: 'lambda:InvokeFunction', InvokedViaFunctionUrl: true },
    ]);
  });

  const accounts = [
    [1_000, 100, 2],
    [202, 100, 2],
    [102, 0, 2],
    [101, 0, undefined],
    [10, 0, undefined],
  ] as const;
  it.each(casesOf(accounts, 2))(
    'reserves concurrency if an account with %d executions, %d of them reserved, leaves 100 for all other functions',
    (accountConcurrency, tokenConcurrency, expected) => {
      const { Smoke } = stageTemplates('dev', { accountConcurrency, tokenConcurrency });
      const { Receiver } = propertiesOf(Smoke, 'AWS::Lambda::Function');
      expect(Receiver.ReservedConcurrentExecutions).toBe(expected);
    },
  );
});
