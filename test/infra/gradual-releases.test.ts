import { describe, expect, it } from 'vitest';
import { bare, type Resource, resourcesOf, stageTemplates } from './templates.ts';

const ofType = (gradual: boolean, type: string): [string, Resource][] =>
  resourcesOf(stageTemplates('prod', { gradual }), type);

const alarms = new Map(ofType(true, 'AWS::CloudWatch::Alarm'));
const groups = new Map(ofType(true, 'AWS::CodeDeploy::DeploymentGroup'));
const aliases = ofType(true, 'AWS::Lambda::Alias');
const released = aliases.filter(([, { UpdatePolicy }]) => UpdatePolicy);
const groupOf = ({ UpdatePolicy }: Resource): Resource['Properties'] =>
  groups.get(UpdatePolicy?.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref ?? '')?.Properties;
const alarmsOf = (alias: Resource): [string, Resource][] =>
  groupOf(alias).AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => [
    Name.Ref,
    alarms.get(Name.Ref),
  ]);

describe('a gradual release', () => {
  it('is that of the functions behind the APIs, and of no other', () => {
    const behindApis = ofType(true, 'AWS::ApiGatewayV2::Integration').map(
      ([, { Properties }]) => Properties.IntegrationUri.Ref,
    );
    expect(released.map(([id]) => id).sort()).toEqual([...new Set(behindApis)].sort());
    expect(released).toHaveLength(6);
    expect(groups.size).toBe(6);
  });

  it('gives a tenth of the requests to the new version first, and takes it back when it fails', () => {
    for (const [id, alias] of released) {
      expect(groupOf(alias), id).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: expect.arrayContaining(['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM']),
        },
        AlarmConfiguration: { Enabled: true },
      });
    }
  });

  it('is judged minute by minute, by crashes and answers with status 500 of the new version alone', () => {
    for (const [id, alias] of released) {
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
        judging.map(([, { Properties }]) => Properties),
        id,
      ).toEqual([
        expect.objectContaining({
          Namespace: 'AWS/Lambda',
          MetricName: 'Errors',
          Dimensions: [
            { Name: 'ExecutedVersion', Value: FunctionVersion },
            { Name: 'FunctionName', Value: FunctionName },
            { Name: 'Resource', Value: { 'Fn::Join': ['', [FunctionName, ':live']] } },
          ],
        }),
        expect.objectContaining({
          Namespace: 'Emissor/prod',
          MetricName: 'ServerError',
          Dimensions: [
            { Name: 'service', Value: expect.any(String) },
            { Name: 'version', Value: FunctionVersion },
          ],
        }),
      ]);
    }
  });

  // Bug: an alarm of a failing version went on ringing when it was changed to watch the version that repairs it, and CodeDeploy
  // begins nothing while an alarm rings.
  it('is judged by alarms that no earlier version has set off', () => {
    const ids = (changes: object) =>
      resourcesOf(stageTemplates('prod', { gradual: true, ...changes }), 'AWS::CodeDeploy::DeploymentGroup').flatMap(
        ([id, { Properties }]) =>
          Properties.AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => [bare(id), Name.Ref]),
      );
    const kept = new Set(ids({}).map(([, name]) => name));
    const anew = ids({ docsUrl: 'https://docs.emissor.com.br/' }).filter(([, name]) => !kept.has(name));
    const groups = new Set(anew.map(([group]) => group.replace(/.*Releases/, '')));
    expect([...groups].sort()).toEqual(['DeliveriesApi', 'WebhooksApi']);
    expect(anew).toHaveLength(4);
  });

  // An alarm on a name that no function counts under would never go off: the compiler knows those names (`HttpService`).
  it('counts the answers of each function under its own name', () => {
    const watched = released.map(([id, alias]) => {
      const text = JSON.stringify(alarmsOf(alias));
      return [bare(id).replace(/Live$/, ''), /"service","Value":"([\w-]+)"/.exec(text)?.[1]];
    });
    expect(watched).toEqual([
      ['Token', 'token'],
      ['Revoke', 'revoke'],
      ['Introspect', 'introspect'],
      ['Discovery', 'discovery'],
      ['WebhooksApi', 'webhooks'],
      ['DeliveriesApi', 'history'],
    ]);
  });
});

describe('a stage without gradual releases', () => {
  it('needs no CodeDeploy', () => {
    expect(ofType(false, 'AWS::CodeDeploy::DeploymentGroup')).toEqual([]);
    expect(ofType(false, 'AWS::Lambda::Alias').filter(([, { UpdatePolicy }]) => UpdatePolicy)).toEqual([]);
  });
});
