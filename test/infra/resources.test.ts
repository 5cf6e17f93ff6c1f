import { describe, expect, it } from 'vitest';
import { tableDefinition, tableNames } from '../../tools/support/tables.ts';
import { propertiesOf, type Resource, resourcesOf, type StackName, stageTemplates } from './templates.ts';

// If the logical id or name of a resource changes, CloudFormation replaces it, and its data is lost ("Update behaviors of stack resources").

const statefulTypes = ['AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key', 'AWS::SQS::Queue', 'AWS::ApiGatewayV2::Api'];

/** The resources that others attach to roles or subscribe to. IAM does not delete attached policies, and subscriptions would be lost. */
const attachedTypes = ['AWS::SNS::Topic', 'AWS::IAM::ManagedPolicy'];

const pinnedIds: Record<StackName, string> = {
  Data: `AlarmTopicsPages2B400110 AlarmTopicsTickets67DC940C AuthEndpointApi1FA076FF BaseEndpointApiA4B202AC
    Clients67031123 CredentialsF8F243AA DeliveriesBF2F7293 Key961B73FD Keyring5277DB2C LockoutsAF1C30B9 Operations993AC38D
    Sessions8896A56D Users0A0EEA89 WebhooksA50342DA`,
  Auth: '',
  Webhooks: '',
  Delivery: `DeadLetterQueue9F481546 EventsQueueB96EB0D2 PublisherF0355618 RejectedEvents31E772ED
    RejectedEventsSubscriber5F691E65 RetryQueue612A9E52 SlowQueue9498D479`,
  Smoke: '',
};

const prod = stageTemplates('prod');
const dev = stageTemplates('dev');
const stacks = Object.keys(pinnedIds) as StackName[];
const allOf = (of: typeof prod): [string, Resource][] =>
  Object.values(of).flatMap(template => Object.entries<Resource>(template.toJSON().Resources));

describe('a stateful resource', () => {
  it.each(stacks)('keeps its logical id in stack %s', name => {
    const ids = [...statefulTypes, ...attachedTypes].flatMap(type => resourcesOf(prod[name], type)).map(([id]) => id);
    expect(ids.sort()).toEqual(pinnedIds[name].split(/\s+/).filter(Boolean));
  });

  // Bug: operators could not repeat a failed first deployment, because its retained resources could not be deleted.
  it('is retained if its prod stack is deleted, but not if the deployment that creates it fails', () => {
    for (const [id, resource] of allOf(prod)) {
      if (resource.Type === 'AWS::ApiGatewayV2::Api') continue; // the stack's termination protection preserves the hosts
      if (![...statefulTypes, 'AWS::Logs::LogGroup'].includes(resource.Type)) continue;
      expect(resource, id).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
    }
  });

  it('is deleted with its dev stack, like every other resource', () => {
    for (const [id, { Type, DeletionPolicy = 'Delete', UpdateReplacePolicy = 'Delete' }] of allOf(dev))
      if (Type !== 'AWS::Lambda::Version')
        // a version is deleted with its function
        expect([DeletionPolicy, UpdateReplacePolicy], id).toEqual(['Delete', 'Delete']);
  });

  it('is multi-Region and rotates if it is a KMS key', () => {
    expect(propertiesOf(prod.Data, 'AWS::KMS::Key').Key).toMatchObject({ MultiRegion: true, EnableKeyRotation: true });
  });
});

describe('a table', () => {
  const tags = { owner: 'Plataforma', 'cost-center': 'CC-42' };
  it.each<[boolean, { readonly tags?: typeof tags }]>([
    [false, {}],
    [true, { protection: true, tags } as object],
  ])('has the keys of the test tables, backups, `ttl`, the tags and protection %s of its stage', (protection, of) => {
    const tables = Object.entries(propertiesOf(stageTemplates('prod', of).Data, 'AWS::DynamoDB::GlobalTable'));
    expect(tables.map(([id]) => id).sort()).toEqual([...tableNames()].sort());
    for (const [id, { Replicas, ...table }] of tables) {
      expect(table, id).toEqual({
        ...tableDefinition(id as ReturnType<typeof tableNames>[number]),
        BillingMode: 'PAY_PER_REQUEST',
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      });
      const [{ GlobalSecondaryIndexes: _names, Tags, ...replica }, ...others] = Replicas;
      expect([replica, others], id).toEqual([
        {
          DeletionProtectionEnabled: protection,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          Region: 'sa-east-1',
        },
        [],
      ]);
      // CloudFormation does not pass the tags of a stack to a global table.
      const pairs = Tags.map(({ Key, Value }: { Key: string; Value: string }) => [Key, Value]);
      expect(Object.fromEntries(pairs)).toEqual({ ...of.tags, service: 'emissor', stage: 'prod' });
    }
  });
});

describe('a log group', () => {
  it.each([false, true])('retains logs for 365 days and audits for 400 days, with protection %s', protection => {
    const templates = stageTemplates('prod', { protection });
    for (const [id, { LogGroupName: _name, ...group }] of Object.entries(
      propertiesOf(templates, 'AWS::Logs::LogGroup'),
    ))
      expect(group, id).toEqual(
        id === 'AuditLogs' ? { RetentionInDays: 400, DeletionProtectionEnabled: protection } : { RetentionInDays: 365 },
      );
    expect(templates.Data.toJSON().Outputs.AuditLogGroup.Value.Ref).toMatch(/^AuditLogs/);
  });

  it('is in the stack of each function, because Lambda would otherwise create a group that no stack deletes', () => {
    const ids = new Set(resourcesOf(dev, 'AWS::Logs::LogGroup').map(([id]) => id));
    for (const [id, { Properties }] of resourcesOf(dev, 'AWS::Lambda::Function'))
      expect(ids, id).toContain(Properties.LoggingConfig?.LogGroup?.Ref);
  });
});

describe('a name', () => {
  // This prefix needs no entry in the account's limited resource policy. The stack's id distinguishes groups of deleted stacks.
  const accessLogs = (area: string) => `/aws/vendedlogs/emissor/prod/${area}-0 of 2 of AWS::StackId by / by -`;

  it('is set only for APIs and access logs, because CloudFormation cannot replace a named resource', () => {
    const named = allOf(prod).flatMap(([id, { Type, Properties = {} }]) => {
      if (/^AWS::Lambda::(?:EventSourceMapping|EventInvokeConfig|Permission|Version|Alias)$/.test(Type)) return [];
      const names = /^(?:Alarm|Topic|DeploymentGroup|Table|Queue|Function|Role|LogGroup|ManagedPolicy)Name$/;
      return Object.keys(Properties).some(property => names.test(property)) ? [id.slice(0, -8)] : [];
    });
    expect(named).toEqual(['AuthEndpointAccessLogs', 'BaseEndpointAccessLogs']);
    const { AuthEndpointAccessLogs, BaseEndpointAccessLogs } = propertiesOf(prod, 'AWS::Logs::LogGroup');
    expect(AuthEndpointAccessLogs.LogGroupName).toBe(accessLogs('auth'));
    expect(BaseEndpointAccessLogs.LogGroupName).toBe(accessLogs('webhooks'));
    const apis = Object.values(propertiesOf(prod, 'AWS::ApiGatewayV2::Api'));
    expect(apis.map(({ Name }) => Name)).toEqual(['Emissor prod auth', 'Emissor prod webhooks']);
  });

  it('is unique to its stage, as are exports and metrics namespaces, so that stages can share an account', () => {
    const namesOf = (stage: 'prod' | 'dev'): string[] => {
      const templates = stageTemplates(stage, { smokeSchedule: '15m' });
      const named = (type: string, property: string) =>
        Object.values(propertiesOf(templates, type)).flatMap(({ [property]: name }) => name ?? []);
      const outputs = Object.values(templates).flatMap(template =>
        Object.values<{ Export?: { Name: string } }>(template.toJSON().Outputs ?? {}),
      );
      const text = JSON.stringify(Object.values(templates).map(template => template.toJSON()));
      return [
        ...named('AWS::ApiGatewayV2::Api', 'Name'),
        ...named('AWS::Logs::LogGroup', 'LogGroupName'),
        ...named('AWS::Logs::QueryDefinition', 'Name'),
        ...outputs.flatMap(({ Export }) => Export?.Name ?? []),
        ...new Set(text.match(/(?<="(?:Namespace|METRICS_NAMESPACE)":")Emissor[^"]*/g)),
      ];
    };
    const names = [...namesOf('prod'), ...namesOf('dev')];
    expect(names.length).toBeGreaterThan(50);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter(name => /^Emissor\/\w+$/.test(name))).toEqual(['Emissor/prod', 'Emissor/dev']);
  });
});
