import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import {
  propertiesOf,
  type Resource,
  resolveIntrinsics,
  resourcesOf,
  stacksOf,
  stageTemplates,
  withoutHash,
} from './templates.ts';

// The description and the environment of each version contain the release. CodeDeploy checks each version before it receives traffic
// (ADR 17).

const prod = stageTemplates('prod');
const ofType = (type: string, from = prod) => resourcesOf(from, type);
const aliases = ofType('AWS::Lambda::Alias');
const aliasIds = new Set(aliases.map(([id]) => id));
const versions = new Map(ofType('AWS::Lambda::Version'));
const groups = new Map(ofType('AWS::CodeDeploy::DeploymentGroup'));
const alarms = new Map(ofType('AWS::CloudWatch::Alarm'));
const hooks = ofType('AWS::Lambda::Function').filter(([id]) => id.startsWith('ReleasesPreTraffic'));
const updateOf = ({ UpdatePolicy }: Resource) =>
  (UpdatePolicy?.CodeDeployLambdaAliasUpdate ?? {}) as Record<string, { Ref: string }>;
const groupOf = (alias: Resource): Resource['Properties'] =>
  groups.get(updateOf(alias).DeploymentGroupName?.Ref ?? '')?.Properties;
const nameOf = (aliasId: string) => withoutHash(aliasId).replace(/Live$/, '');

const [canary, allAtOnce] = ['CodeDeployDefault.LambdaCanary10Percent5Minutes', 'CodeDeployDefault.LambdaAllAtOnce'];
/** The functions behind the APIs, with the service names of their metrics (`HttpService`). */
const services = {
  Token: 'token',
  Revoke: 'revoke',
  Introspect: 'introspect',
  Discovery: 'discovery',
  WebhooksApi: 'webhooks',
  DeliveriesApi: 'history',
};
const others = ['RotateKeys', 'DeliverFirst', 'DeliverRetry', 'DeliverSlow', 'Sweep', 'ScheduledTest'];
const releasedFunctions = [...Object.keys(services), ...others].sort();

describe('a caller', () => {
  it.each<[string, (resource: Resource) => unknown]>([
    ['AWS::ApiGatewayV2::Integration', ({ Properties }) => Properties.IntegrationUri],
    ['AWS::Lambda::EventSourceMapping', ({ Properties }) => Properties.FunctionName],
    ['AWS::Events::Rule', ({ Properties }) => Properties.Targets[0].Arn],
    ['AWS::Lambda::Permission', ({ Properties }) => Properties.FunctionName],
  ])('invokes an alias: %s', (type, calleeOf) => {
    const resources = ofType(type).filter(([id]) => !id.startsWith('Receiver')); // its URL invokes the function without an alias
    expect(resources).not.toEqual([]);
    for (const [id, resource] of resources)
      expect(aliasIds, id).toContain(/"Ref":"(\w+)"/.exec(JSON.stringify(calleeOf(resource)))?.[1]);
  });
});

describe('a release', () => {
  it('publishes a version of every function with its label, and retains the version', () => {
    expect(aliases.map(([id]) => nameOf(id)).sort()).toEqual(releasedFunctions);
    for (const [id, { Properties }] of aliases) {
      const { Properties: version, ...policies } = versions.get(
        Properties.FunctionVersion['Fn::GetAtt'][0],
      ) as Resource;
      expect([Properties.Name, resolveIntrinsics(Properties.FunctionName)]).toEqual(['live', nameOf(id)]);
      expect(version).toEqual({ FunctionName: Properties.FunctionName, Description: 'test' });
      expect(policies).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
    }
  });

  it('replaces every version if its label changes, and no version otherwise', () => {
    const idsOf = (release?: string) =>
      stacksOf('local', {}, release).flatMap(stack =>
        Object.keys(Template.fromStack(stack).findResources('AWS::Lambda::Version')),
      );
    const [first, repeated, next] = [idsOf(), idsOf(), idsOf('test-n2')];
    expect(first.length).toBeGreaterThan(8);
    expect(repeated).toEqual(first);
    expect(next).toHaveLength(first.length);
    expect(next.filter(id => first.includes(id))).toEqual([]);
  });

  it('is an output of each stack with functions', () => {
    for (const [name, template] of Object.entries(prod))
      expect(template.toJSON().Outputs.Release?.Value, name).toBe(name === 'Data' ? undefined : 'test');
  });
});

describe('CodeDeploy', () => {
  it('rolls back failed versions, and shifts traffic gradually for functions behind the APIs of a stage with customers', () => {
    for (const [id, alias] of aliases) {
      const { DeploymentConfigName, AutoRollbackConfiguration, AlarmConfiguration } = groupOf(alias);
      const isGradual = nameOf(id) in services;
      expect(DeploymentConfigName, id).toBe(isGradual ? canary : allAtOnce);
      expect(AlarmConfiguration.Enabled, id).toBe(isGradual);
      expect(AutoRollbackConfiguration.Enabled, id).toBe(true);
      expect(AutoRollbackConfiguration.Events, id).toContain('DEPLOYMENT_FAILURE');
      expect(AutoRollbackConfiguration.Events.includes('DEPLOYMENT_STOP_ON_ALARM'), id).toBe(isGradual);
    }
    const dev = Object.values(propertiesOf(stageTemplates('dev'), 'AWS::CodeDeploy::DeploymentGroup'));
    expect(new Set(dev.map(({ DeploymentConfigName }) => DeploymentConfigName))).toEqual(new Set([allAtOnce]));
    expect(dev).toHaveLength(releasedFunctions.length - 1); // no scheduled test
  });

  it('is not used with `gradual: false`', () => {
    const templates = stageTemplates('prod', { gradual: false });
    expect(ofType('AWS::CodeDeploy::DeploymentGroup', templates)).toEqual([]);
    const otherAliases = ofType('AWS::Lambda::Alias', templates);
    expect(otherAliases.map(([id]) => nameOf(id)).sort()).toEqual(releasedFunctions);
    expect(otherAliases.filter(([, { UpdatePolicy }]) => UpdatePolicy)).toEqual([]);
  });
});

describe('the pre-traffic hook', () => {
  it('exists once in each stack with functions, lists the versions to check, and is a dependency of each alias', () => {
    expect(hooks).toHaveLength(4);
    const checked = hooks.flatMap(([hookId, { Properties }]) =>
      Properties.Environment.Variables.VERSIONS['Fn::Join'][1].map(
        (pair: { 'Fn::Join': [string, { Ref: string }[]] }) => {
          const [separator, [group, version]] = pair['Fn::Join'];
          return [hookId, separator, group?.Ref, version?.Ref];
        },
      ),
    );
    const expected = aliases.map(([id, alias]) => {
      const { BeforeAllowTrafficHook, DeploymentGroupName } = updateOf(alias);
      expect(alias.DependsOn, id).toContain(BeforeAllowTrafficHook?.Ref);
      const version = alias.Properties.FunctionVersion['Fn::GetAtt'][0];
      return [BeforeAllowTrafficHook?.Ref, '=', DeploymentGroupName?.Ref, version];
    });
    expect(checked.sort()).toEqual(expected.sort());
  });

  // `withoutPolicyUpdates()` drops the CDK's grant, and the managed policy of CodeDeploy allows only `CodeDeployHook_*`.
  it('can be invoked by CodeDeploy before any alias changes', () => {
    for (const [hookId] of hooks) {
      const template = Object.values(prod).find(one => one.toJSON().Resources[hookId]) as Template;
      const policies = resourcesOf(template, 'AWS::IAM::Policy').filter(([id]) =>
        id.startsWith('ReleasesRoleDefaultPolicy'),
      );
      const [[policyId, policy]] = policies as [[string, Resource]];
      expect(policies).toHaveLength(1);
      expect(policy.Properties.PolicyDocument.Statement).toEqual([
        { Action: 'lambda:InvokeFunction', Effect: 'Allow', Resource: { 'Fn::GetAtt': [hookId, 'Arn'] } },
      ]);
      const ownGroups = resourcesOf(template, 'AWS::CodeDeploy::DeploymentGroup');
      const roles = new Set(ownGroups.map(([, { Properties }]) => Properties.ServiceRoleArn['Fn::GetAtt'][0]));
      expect([...roles]).toEqual([policy.Properties.Roles[0].Ref]);
      for (const [id, { DependsOn }] of resourcesOf(template, 'AWS::Lambda::Alias'))
        expect(DependsOn, id).toContain(policyId);
    }
  });
});

describe('the alarms of a gradual release', () => {
  it('watch only errors and 500 responses of the new version, with periods of 1 minute', () => {
    for (const [id, alias] of aliases.filter(([aliasId]) => nameOf(aliasId) in services)) {
      const { FunctionName, FunctionVersion } = alias.Properties;
      const names: string[] = groupOf(alias).AlarmConfiguration.Alarms.map(
        ({ Name }: { Name: { Ref: string } }) => Name.Ref,
      );
      expect(alias.DependsOn, id).toEqual(expect.arrayContaining(names));
      const rule = {
        ...{ Threshold: 0, ComparisonOperator: 'GreaterThanThreshold', TreatMissingData: 'notBreaching' },
        ...{ EvaluationPeriods: 1, Period: 60, Statistic: 'Sum' },
      };
      expect(names.map(name => alarms.get(name)?.Properties)).toMatchObject([
        {
          ...rule,
          Namespace: 'AWS/Lambda',
          MetricName: 'Errors',
          Dimensions: [
            { Name: 'ExecutedVersion', Value: FunctionVersion },
            { Name: 'FunctionName', Value: FunctionName },
            { Name: 'Resource', Value: { 'Fn::Join': ['', [FunctionName, ':live']] } },
          ],
        },
        {
          ...rule,
          Namespace: 'Emissor/prod',
          MetricName: 'ServerError',
          Dimensions: [
            { Name: 'service', Value: services[nameOf(id) as keyof typeof services] },
            { Name: 'version', Value: FunctionVersion },
          ],
        },
      ]);
    }
  });

  // Bug: the alarm for a failing version stayed active when the fixed version was deployed. CodeDeploy does not start a deployment
  // while an alarm is active.
  it('are replaced with each version', () => {
    const docsUrl = 'https://docs.emissor.com.br/'; // an environment variable of two functions
    const next = ofType('AWS::CodeDeploy::DeploymentGroup', stageTemplates('prod', { docsUrl }));
    const namesOf = (group: Resource['Properties']) => JSON.stringify(group.AlarmConfiguration);
    const replaced = next.filter(([id, { Properties }]) => namesOf(Properties) !== namesOf(groups.get(id)?.Properties));
    expect(replaced.map(([id]) => withoutHash(id).replace('Releases', '')).sort()).toEqual([
      'DeliveriesApi',
      'WebhooksApi',
    ]);
  });
});

// A trigger for each version would invoke an earlier version during a stack rollback. Its failure would block the rollback.
it('only the first deployment creates the first keys, and the log of its trigger is deleted with the stack', () => {
  const triggers = ofType('Custom::Trigger').map(([, { Properties }]) => Properties);
  expect(triggers).toMatchObject([{ ExecuteOnHandlerChange: false, InvocationType: 'RequestResponse' }]);
  expect(triggers[0].HandlerArn.Ref).toMatch(/^RotateKeysCurrentVersion/);
  const provider = prod.Auth.toJSON().Resources[triggers[0].ServiceToken['Fn::GetAtt'][0]];
  expect(ofType('AWS::Logs::LogGroup').map(([id]) => id)).toContain(provider.Properties.LoggingConfig.LogGroup.Ref);
});
