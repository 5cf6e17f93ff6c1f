import { describe, expect, it } from 'vitest';
import { authDomain, bare, baseDomain, isOwn, resourcesOf, stageTemplates } from './templates.ts';

const stage = stageTemplates('prod', { tokenConcurrency: 40 });
const functions = resourcesOf(stage, 'AWS::Lambda::Function').filter(isOwn);
const logGroups = resourcesOf(stage, 'AWS::Logs::LogGroup');

describe('every function', () => {
  it('runs on Node.js 24, arm64', () => {
    expect(functions).toHaveLength(17);
    for (const [id, { Properties }] of functions) {
      expect(Properties, id).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
      });
    }
  });

  it('writes JSON to a log group of its own, whose retention is the stage’s', () => {
    for (const template of Object.values(stage)) {
      const own = resourcesOf(template, 'AWS::Lambda::Function').map(([, { Properties }]) => Properties.LoggingConfig);
      expect(new Set(own.map(({ LogGroup }) => LogGroup.Ref)).size).toBe(own.length);
    }
    for (const [, { Properties }] of functions) expect(Properties.LoggingConfig.LogFormat).toBe('JSON');
    for (const [id, { Properties }] of logGroups)
      expect(Properties.RetentionInDays, id).toBe(id.startsWith('AuditLogs') ? 400 : 365);
  });

  it('writes no line of Lambda’s own for an invocation that went well', () => {
    for (const [id, { Properties }] of functions) expect(Properties.LoggingConfig.SystemLogLevel, id).toBe('WARN');
  });

  it('has a role whose path tells its stage and its Region, in which preflight looks for a second stage of that name', () => {
    const roles = new Map(resourcesOf(stage, 'AWS::IAM::Role'));
    for (const [id, { Properties }] of functions) {
      expect(roles.get(Properties.Role['Fn::GetAtt'][0])?.Properties.Path, id).toBe('/emissor/prod/sa-east-1/');
    }
  });

  it('is not invoked again beside the next sweep, where it is the sweeper', () => {
    const settings = resourcesOf(stage, 'AWS::Lambda::EventInvokeConfig');
    const own = settings.filter(([, { Properties }]) => Properties.FunctionName.Ref?.startsWith('Sweep'));
    expect(own).toMatchObject([
      [expect.anything(), { Properties: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } }],
    ]);
  });

  it('is in no VPC, which would give deliveries access to private addresses', () => {
    for (const [id, { Properties }] of functions) expect(Properties, id).not.toHaveProperty('VpcConfig');
  });

  it('has no reserved concurrency, except those that hash passwords or answer strangers', () => {
    const reserved = functions.filter(([, { Properties }]) => Properties.ReservedConcurrentExecutions !== undefined);
    expect(reserved.map(([id, { Properties }]) => [bare(id), Properties.ReservedConcurrentExecutions])).toEqual([
      ['Token', 40],
      ['Receiver', 2],
    ]);
  });
});

describe('the token function', () => {
  it('has the limits of its stage', () => {
    const [, token] = functions.find(([id]) => bare(id) === 'Token') ?? [];
    expect(token?.Properties.Environment.Variables).toMatchObject({
      CLIENT_FAILURE_LIMIT: '300',
    });
  });
});

describe('the service’s own hosts', () => {
  const own = stageTemplates('prod', { ...authDomain, ...baseDomain });
  const plain = stageTemplates('prod');
  const hostsOf = (stage: typeof own) =>
    (['Webhooks', 'Delivery'] as const)
      .flatMap(stack => resourcesOf(stage[stack], 'AWS::Lambda::Function'))
      .map(([id, { Properties }]) => [bare(id), Properties.Environment?.Variables?.OWN_HOSTS] as const)
      .filter(([, hosts]) => hosts !== undefined);

  it.each([
    ['the gateway’s', plain, []],
    ['the gateway’s and the custom domains', own, ['auth.emissor.com.br', 'api.emissor.com.br']],
  ])('are %s, for all functions that check URLs', (_, stage, domains) => {
    const found = hostsOf(stage);
    expect(found.map(([name]) => name)).toEqual(['WebhooksApi', 'DeliverFirst', 'DeliverRetry', 'DeliverSlow']);
    for (const [name, hosts] of found) {
      const text = JSON.stringify(hosts);
      const gateways = text.match(/\{"Fn::Select":\[2,\{"Fn::Split":\["\/",\{"Fn::ImportValue":"[^"]*ApiEndpoint\w*"/g);
      expect(new Set(gateways), name).toHaveLength(2);
      for (const domain of domains) expect(text, name).toContain(domain);
    }
  });
});

describe('schedules and event sources', () => {
  it('run the sweeper every minute, the rotation of keys every day, and the smoke test as configured', () => {
    const rules = resourcesOf(stage, 'AWS::Events::Rule');
    const schedules = rules.map(([, { Properties }]) => [
      bare(Properties.Targets[0].Arn.Ref),
      Properties.ScheduleExpression,
      Properties.State,
    ]);
    expect(schedules).toEqual([
      ['RotateKeysLive', 'rate(1 day)', 'ENABLED'],
      ['SweepLive', 'rate(1 minute)', 'ENABLED'],
      ['ScheduledTestLive', 'rate(15 minutes)', 'ENABLED'],
    ]);
  });

  it('filter no messages, because filtered ones are deleted', () => {
    for (const [id, { Properties }] of resourcesOf(stage, 'AWS::Lambda::EventSourceMapping'))
      expect(Properties, id).not.toHaveProperty('FilterCriteria');
  });
});
