import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { bare, isOwn, type Resource, resourcesOf, stacksOf, stageTemplates } from './templates.ts';

// A release is in the description and the environment of every version, and CodeDeploy has each version checked before it gets traffic.

const prod = stageTemplates('prod');
const ofType = (type: string, from = prod) => resourcesOf(from, type);
const aliases = ofType('AWS::Lambda::Alias');
const aliasIds = new Set(aliases.map(([id]) => id));
const versions = new Map(ofType('AWS::Lambda::Version'));
const groups = new Map(ofType('AWS::CodeDeploy::DeploymentGroup'));
const nameOf = (aliasId: string) => bare(aliasId).replace(/Live$/, '');
const isHook = ([id]: readonly [string, Resource]) => id.startsWith('ReleasesPreTraffic');
const functions = ofType('AWS::Lambda::Function').filter(isOwn);
const withoutAlias = ([id]: readonly [string, Resource]) => /^(ReleasesPreTraffic|Receiver)/.test(id);
const groupOf = ({ UpdatePolicy }: Resource): Resource['Properties'] =>
  groups.get(UpdatePolicy?.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref ?? '')?.Properties;

describe('callers', () => {
  it.each<[string, (resource: Resource) => unknown]>([
    ['AWS::ApiGatewayV2::Integration', ({ Properties }) => Properties.IntegrationUri],
    ['AWS::Lambda::EventSourceMapping', ({ Properties }) => Properties.FunctionName],
    ['AWS::Events::Rule', ({ Properties }) => Properties.Targets[0].Arn],
    ['AWS::Lambda::Permission', ({ Properties }) => Properties.FunctionName],
  ])('invoke an alias: %s', (type, calleeOf) => {
    const resources = ofType(type).filter(([id]) => !id.startsWith('Receiver')); // its URL belongs to the function itself
    expect(resources).not.toEqual([]);
    for (const [id, resource] of resources)
      expect(aliasIds, id).toContain(/"Ref":"(\w+)"/.exec(JSON.stringify(calleeOf(resource)))?.[1]);
  });
});

describe('a release', () => {
  it('publishes a version of every function, with its label, and retains it', () => {
    const published = aliases.map(([, { Properties }]) => {
      const { Properties: version, ...policies } = versions.get(
        Properties.FunctionVersion['Fn::GetAtt'][0],
      ) as Resource;
      expect(version).toEqual({ FunctionName: Properties.FunctionName, Description: 'test' });
      expect(policies).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
      return [Properties.Name, Properties.FunctionName.Ref];
    });
    const released = functions.filter(one => !withoutAlias(one));
    expect(published.sort()).toEqual(released.map(([id]) => ['live', id]).sort());
    for (const [id, { Properties }] of functions) expect(Properties.Environment.Variables.RELEASE, id).toBe('test');
  });

  it('replaces every version when its label changes, and none when nothing does', () => {
    const idsOf = (release?: string) =>
      stacksOf('local', {}, release).flatMap(stack =>
        Object.keys(Template.fromStack(stack).findResources('AWS::Lambda::Version')),
      );
    const [first, again, next] = [idsOf(), idsOf(), idsOf('test-n2')];
    expect(first.length).toBeGreaterThan(8);
    expect(again).toEqual(first);
    expect(next).toHaveLength(first.length);
    expect(next.filter(id => first.includes(id))).toEqual([]);
  });

  it('is an output of each stack with functions', () => {
    for (const [name, template] of Object.entries(prod))
      expect(template.toJSON().Outputs.Release?.Value, name).toBe(name === 'Data' ? undefined : 'test');
  });
});

const canary = 'CodeDeployDefault.LambdaCanary10Percent5Minutes';
const allAtOnce = 'CodeDeployDefault.LambdaAllAtOnce';

describe('CodeDeploy', () => {
  const configurations = (stage: 'dev' | 'prod') => {
    const templates = stageTemplates(stage, stage === 'prod' ? {} : { smokeSchedule: '15m' });
    const own = new Map(resourcesOf(templates, 'AWS::CodeDeploy::DeploymentGroup'));
    return resourcesOf(templates, 'AWS::Lambda::Alias').map(([id, { UpdatePolicy }]) => {
      const group = own.get(UpdatePolicy?.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref ?? '');
      return [nameOf(id), group?.Properties.DeploymentConfigName] as const;
    });
  };
  const behindApis = ['Token', 'Revoke', 'Introspect', 'Discovery', 'WebhooksApi', 'DeliveriesApi'];
  const others = ['RotateKeys', 'DeliverFirst', 'DeliverRetry', 'DeliverSlow', 'Sweep', 'ScheduledTest'];

  it('releases every function, and on a stage with customers those behind the APIs gradually', () => {
    expect(Object.fromEntries(configurations('prod'))).toEqual({
      ...Object.fromEntries(behindApis.map(name => [name, canary])),
      ...Object.fromEntries(others.map(name => [name, allAtOnce])),
    });
    expect(new Set(configurations('dev').map(([, configuration]) => configuration))).toEqual(new Set([allAtOnce]));
  });

  it('rolls back a version that fails', () => {
    for (const [id, alias] of aliases) {
      const isWatched = behindApis.includes(nameOf(id));
      const { Enabled, Events } = groupOf(alias).AutoRollbackConfiguration;
      expect([Enabled, Events.includes('DEPLOYMENT_FAILURE'), Events.includes('DEPLOYMENT_STOP_ON_ALARM')], id).toEqual(
        [true, true, isWatched],
      );
    }
  });

  it('is left out with `gradual: false`, as an emulator and the deployment after a rollback need it', () => {
    const templates = stageTemplates('prod', { gradual: false });
    expect(ofType('AWS::CodeDeploy::DeploymentGroup', templates)).toEqual([]);
    const moved = ofType('AWS::Lambda::Alias', templates);
    expect(moved.map(([id]) => nameOf(id)).sort()).toEqual([...behindApis, ...others].sort());
    expect(moved.filter(([, { UpdatePolicy }]) => UpdatePolicy)).toEqual([]);
  });
});

describe('the hook before traffic', () => {
  const hooks = functions.filter(isHook);
  const stackOf = (id: string) => Object.values(prod).find(template => template.toJSON().Resources[id] !== undefined);

  it('is one per stack, and each alias waits for it with the versions that it checks', () => {
    expect(hooks).toHaveLength(4);
    const checked = hooks.flatMap(([hookId, { Properties }]) =>
      Properties.Environment.Variables.VERSIONS['Fn::Join'][1].map(
        (pair: { 'Fn::Join': [string, { Ref: string }[]] }) => {
          const [separator, [group, version]] = pair['Fn::Join'];
          return [hookId, separator, group?.Ref, version?.Ref];
        },
      ),
    );
    const expected = aliases.map(([id, { UpdatePolicy, DependsOn, Properties }]) => {
      const update = UpdatePolicy?.CodeDeployLambdaAliasUpdate as Record<string, { Ref: string }>;
      expect(DependsOn, id).toContain(update.BeforeAllowTrafficHook?.Ref);
      const version = Properties.FunctionVersion['Fn::GetAtt'][0];
      return [update.BeforeAllowTrafficHook?.Ref, '=', update.DeploymentGroupName?.Ref, version];
    });
    expect(checked.sort()).toEqual(expected.sort());
  });

  // Bug class: `withoutPolicyUpdates()` drops the CDK's grant, and CodeDeploy's managed policy allows `CodeDeployHook_*` only.
  it('may be invoked by the role of CodeDeploy, before any alias moves', () => {
    for (const [hookId] of hooks) {
      const template = stackOf(hookId) as (typeof prod)['Auth'];
      const policies = resourcesOf(template, 'AWS::IAM::Policy').filter(([id]) =>
        id.startsWith('ReleasesRoleDefaultPolicy'),
      );
      expect(policies.map(([, { Properties }]) => Properties.PolicyDocument.Statement)).toEqual([
        [{ Action: 'lambda:InvokeFunction', Effect: 'Allow', Resource: { 'Fn::GetAtt': [hookId, 'Arn'] } }],
      ]);
      const roles = new Set(
        resourcesOf(template, 'AWS::CodeDeploy::DeploymentGroup').map(
          ([, { Properties }]) => Properties.ServiceRoleArn['Fn::GetAtt'][0],
        ),
      );
      expect([...roles]).toEqual([policies[0]?.[1].Properties.Roles[0].Ref]);
      for (const [id, { DependsOn }] of resourcesOf(template, 'AWS::Lambda::Alias'))
        expect(DependsOn, id).toContain(policies[0]?.[0]);
    }
  });

  it('is checked itself by nothing: CodeDeploy invokes it without an alias', () => {
    for (const [id] of hooks)
      expect(aliases.map(([, { Properties }]) => Properties.FunctionName.Ref)).not.toContain(id);
  });
});

describe('the alarms of a gradual release', () => {
  const alarms = new Map(ofType('AWS::CloudWatch::Alarm'));
  const watched = aliases.filter(([, alias]) => groupOf(alias).AlarmConfiguration.Enabled);
  const alarmsOf = (alias: Resource): [string, Resource][] =>
    groupOf(alias).AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => [
      Name.Ref,
      alarms.get(Name.Ref),
    ]);

  it('watch crashes and answers with status 500 of the new version alone, minute by minute', () => {
    for (const [id, alias] of watched) {
      const { FunctionName, FunctionVersion } = alias.Properties;
      const judging = alarmsOf(alias);
      for (const [name, { Properties }] of judging) {
        expect(alias.DependsOn, id).toContain(name);
        expect(Properties, id).toMatchObject({
          Threshold: 0,
          ComparisonOperator: 'GreaterThanThreshold',
          TreatMissingData: 'notBreaching',
          EvaluationPeriods: 1,
          Period: 60,
          Statistic: 'Sum',
        });
      }
      expect(
        judging.map(([, { Properties }]) => [Properties.Namespace, Properties.MetricName, Properties.Dimensions]),
        id,
      ).toEqual([
        [
          'AWS/Lambda',
          'Errors',
          [
            { Name: 'ExecutedVersion', Value: FunctionVersion },
            { Name: 'FunctionName', Value: FunctionName },
            { Name: 'Resource', Value: { 'Fn::Join': ['', [FunctionName, ':live']] } },
          ],
        ],
        [
          'Emissor/prod',
          'ServerError',
          [
            { Name: 'service', Value: expect.any(String) },
            { Name: 'version', Value: FunctionVersion },
          ],
        ],
      ]);
    }
  });

  // An alarm on a name that no function counts under never goes off: the compiler knows those names (`HttpService`).
  it('count the answers of each function under its own name', () => {
    const services = watched.map(([id, alias]) => [
      nameOf(id),
      /"service","Value":"([\w-]+)"/.exec(JSON.stringify(alarmsOf(alias)))?.[1],
    ]);
    expect(services).toEqual([
      ['Token', 'token'],
      ['Revoke', 'revoke'],
      ['Introspect', 'introspect'],
      ['Discovery', 'discovery'],
      ['WebhooksApi', 'webhooks'],
      ['DeliveriesApi', 'history'],
    ]);
  });

  // Bug: an alarm of a failing version stayed active when it was changed to watch the version that repairs it, and CodeDeploy
  // starts nothing while an alarm is active.
  it('are replaced with each version', () => {
    const next = ofType(
      'AWS::CodeDeploy::DeploymentGroup',
      stageTemplates('prod', { docsUrl: 'https://docs.emissor.com.br/' }),
    );
    const replaced = next.filter(([id, { Properties }]) => {
      const namesOf = (of: Resource['Properties']) => JSON.stringify(of.AlarmConfiguration);
      return namesOf(Properties) !== namesOf(groups.get(id)?.Properties as Resource['Properties']);
    });
    expect(replaced.map(([id]) => bare(id).replace('Releases', '')).sort()).toEqual(['DeliveriesApi', 'WebhooksApi']);
  });
});

describe('the first keys', () => {
  // A trigger that follows the function's versions invokes an earlier one when the stack rolls back, which may be stuck then (ADR 17).
  it('are created by the first deployment only, and its log is deleted with the stack', () => {
    const [[, trigger] = []] = ofType('Custom::Trigger');
    expect(trigger?.Properties).toMatchObject({ ExecuteOnHandlerChange: false, InvocationType: 'RequestResponse' });
    expect(trigger?.Properties.HandlerArn.Ref).toMatch(/^RotateKeysCurrentVersion/);
    const provider = prod.Auth.toJSON().Resources[trigger?.Properties.ServiceToken['Fn::GetAtt'][0]];
    expect(ofType('AWS::Logs::LogGroup').map(([id]) => id)).toContain(provider.Properties.LoggingConfig.LogGroup.Ref);
    expect(ofType('Custom::Trigger')).toHaveLength(1);
  });
});
