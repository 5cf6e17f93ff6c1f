import { describe, expect, it } from 'vitest';
import { tableDefinition, tableNames } from '../../tools/support/tables.ts';
import { type Resource, resourcesOf, type StackName, stageTemplates } from './templates.ts';

const stateful = ['AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key', 'AWS::SQS::Queue', 'AWS::ApiGatewayV2::Api'];

/** Subscriptions and roles of others hang on them: a new one would have none, and IAM deletes no policy that a role has. */
const attached = ['AWS::SNS::Topic', 'AWS::IAM::ManagedPolicy'];

/** A changed logical id makes CloudFormation replace the resource: its data is lost, or what hangs on it. */
const pinned: Record<StackName, string[]> = {
  Data: [
    'AlarmTopicsPages2B400110',
    'AlarmTopicsTickets67DC940C',
    'AuthEndpointApi1FA076FF',
    'BaseEndpointApiA4B202AC',
    'Clients67031123',
    'CredentialsF8F243AA',
    'DeliveriesBF2F7293',
    'Key961B73FD',
    'Keyring5277DB2C',
    'LockoutsAF1C30B9',
    'Operations993AC38D',
    'Sessions8896A56D',
    'Users0A0EEA89',
    'WebhooksA50342DA',
  ],
  Auth: [],
  Webhooks: [],
  Delivery: [
    'DeadLetterQueue9F481546',
    'EventsQueueB96EB0D2',
    'PublisherF0355618',
    'RefusedEventsDDB23362',
    'RefusedEventsSubscriber920FDB29',
    'RetryQueue612A9E52',
    'SlowQueue9498D479',
  ],
  Smoke: [],
};

describe('a stateful resource', () => {
  const prod = stageTemplates('prod');
  const stacks = Object.keys(pinned) as StackName[];
  const held = (name: StackName, types = stateful) => types.flatMap(type => resourcesOf(prod[name], type));

  it.each(stacks)('keeps its logical ids in %s', name => {
    expect(
      held(name, [...stateful, ...attached])
        .map(([id]) => id)
        .sort(),
    ).toEqual(pinned[name]);
  });

  // A failed first deployment could not be repeated: what it left could not be deleted.
  it('outlives its stack in prod, but not the failure of the deployment that created it', () => {
    const logGroups = stacks.flatMap(name => resourcesOf(prod[name], 'AWS::Logs::LogGroup'));
    for (const [id, resource] of [...stacks.flatMap(name => held(name)), ...logGroups]) {
      if (resource.Type === 'AWS::ApiGatewayV2::Api') continue; // termination protection of the stack keeps the hosts
      expect(resource, id).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
    }
  });

  it('is protected against deletion where the stage says so, and not before', () => {
    for (const protection of [true, false]) {
      const { Data } = stageTemplates('prod', { protection });
      for (const [id, table] of resourcesOf(Data, 'AWS::DynamoDB::GlobalTable')) {
        expect(table.Properties.Replicas[0].DeletionProtectionEnabled, id).toBe(protection);
      }
      const [id = ''] = Object.keys(Data.findResources('AWS::Logs::LogGroup')).filter(name => name.startsWith('Audit'));
      Data.hasOutput('AuditLogGroup', { Value: { Ref: id } });
      const [, trail] = resourcesOf(Data, 'AWS::Logs::LogGroup').find(([name]) => name === id) ?? [];
      expect(trail?.Properties.DeletionProtectionEnabled).toBe(protection);
    }
  });

  it('can be restored to any second', () => {
    for (const [id, table] of resourcesOf(prod.Data, 'AWS::DynamoDB::GlobalTable')) {
      expect(table.Properties.Replicas, id).toEqual([
        expect.objectContaining({ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }),
      ]);
    }
  });

  it('is opened in another Region by a copy of its key, which only a multi-Region key has', () => {
    const [[, key] = []] = resourcesOf(prod.Data, 'AWS::KMS::Key');
    expect(key?.Properties).toMatchObject({ MultiRegion: true, EnableKeyRotation: true });
  });

  it('expires items by the attribute that the stores write', () => {
    for (const [id, table] of resourcesOf(prod.Data, 'AWS::DynamoDB::GlobalTable')) {
      expect(table.Properties.TimeToLiveSpecification, id).toEqual({ AttributeName: 'ttl', Enabled: true });
    }
  });

  it('has the keys and indexes that unit tests make their tables with', () => {
    const inTemplate = resourcesOf(prod.Data, 'AWS::DynamoDB::GlobalTable').map(([id, { Properties }]) => {
      const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes } = Properties;
      const indexes = GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }: Record<string, unknown>) => ({
        IndexName,
        KeySchema,
        Projection,
      }));
      return [
        id.slice(0, -8),
        { AttributeDefinitions, KeySchema, ...(indexes && { GlobalSecondaryIndexes: indexes }) },
      ];
    });
    const inTests = tableNames().map(name => [name, tableDefinition(name)]);
    expect(Object.fromEntries(inTemplate)).toEqual(Object.fromEntries(inTests));
  });

  it('is deleted with its stack in dev, like everything else', () => {
    const dev = stageTemplates('dev');
    for (const name of stacks) {
      const { Resources } = dev[name].toJSON() as { Resources: Record<string, Resource> };
      for (const [id, resource] of Object.entries(Resources)) {
        if (resource.Type === 'AWS::Lambda::Version') continue; // they go with their function
        const { DeletionPolicy = 'Delete', UpdateReplacePolicy = 'Delete' } = resource;
        expect([DeletionPolicy, UpdateReplacePolicy], id).toEqual(['Delete', 'Delete']);
      }
    }
  });

  it('is not all that a function leaves: every one has a log group that its stack deletes', () => {
    for (const name of stacks) {
      for (const [id, { Properties }] of resourcesOf(stageTemplates('dev')[name], 'AWS::Lambda::Function')) {
        expect(Properties.LoggingConfig?.LogGroup?.Ref, id).toBeDefined();
      }
    }
  });

  it('has no physical name, so that it can be deployed twice and replaced', () => {
    // An access log has to have a name of a certain form; test/infra/endpoints.test.ts says how it stays unique.
    const names = [
      'AlarmName',
      'TopicName',
      'DeploymentGroupName',
      'TableName',
      'QueueName',
      'FunctionName',
      'RoleName',
      'LogGroupName',
      'ManagedPolicyName',
    ];
    const references = new Set(
      ['EventSourceMapping', 'EventInvokeConfig', 'Permission', 'Version', 'Alias'].map(type => `AWS::Lambda::${type}`),
    );
    for (const name of stacks) {
      for (const [id, resource] of Object.entries(prod[name].toJSON().Resources as Record<string, object>)) {
        const { Type, Properties = {} } = resource as { Type: string; Properties?: object };
        if (references.has(Type)) continue;
        if (/^(Auth|Base)EndpointAccessLogs/.test(id)) continue;
        for (const property of names) expect(Properties, `${id}.${property}`).not.toHaveProperty(property);
      }
    }
  });
});
