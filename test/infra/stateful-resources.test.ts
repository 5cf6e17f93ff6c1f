import { describe, expect, it } from 'vitest';
import { tableDefinition, tableNames } from '../support/tables.ts';
import { resourcesOf, type StackName, stageTemplates } from './templates.ts';

const stateful = ['AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key', 'AWS::SQS::Queue', 'AWS::ApiGatewayV2::Api'];

/** A changed logical id makes CloudFormation replace the resource, and its data is lost. */
const pinned: Record<StackName, string[]> = {
  Data: [
    'AuthEndpointApi1FA076FF',
    'BaseEndpointApiA4B202AC',
    'Clients67031123',
    'CredentialsF8F243AA',
    'DeliveriesBF2F7293',
    'Key961B73FD',
    'Keyring5277DB2C',
    'LockoutsAF1C30B9',
    'Sessions8896A56D',
    'Users0A0EEA89',
    'WebhooksA50342DA',
  ],
  Auth: [],
  Webhooks: [],
  Delivery: ['DeadLetterQueue9F481546', 'EventsQueueB96EB0D2', 'RetryQueue612A9E52', 'SlowQueue9498D479'],
  Smoke: [],
};

describe('a stateful resource', () => {
  const prod = stageTemplates('prod');
  const stacks = Object.keys(pinned) as StackName[];
  const held = (templates: typeof prod, name: StackName) =>
    stateful.flatMap(type => resourcesOf(templates[name], type));

  it.each(stacks)('keeps its logical ids in %s', name => {
    expect(
      held(prod, name)
        .map(([id]) => id)
        .sort(),
    ).toEqual(pinned[name]);
  });

  it('outlives its stack in prod', () => {
    for (const [id, resource] of stacks.flatMap(name => held(prod, name))) {
      if (resource.Type === 'AWS::ApiGatewayV2::Api') continue; // termination protection of the stack keeps the hosts
      expect(resource, id).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    }
  });

  it('is protected against deletion and can be restored to any second, in prod', () => {
    for (const [id, table] of resourcesOf(prod.Data, 'AWS::DynamoDB::GlobalTable')) {
      expect(table.Properties.Replicas, id).toEqual([
        expect.objectContaining({
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      ]);
    }
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

  it('is deleted with its stack in dev', () => {
    const dev = stageTemplates('dev');
    for (const [id, resource] of held(dev, 'Data')) {
      if (resource.Type === 'AWS::ApiGatewayV2::Api') continue;
      expect(resource, id).toMatchObject({ DeletionPolicy: 'Delete' });
    }
  });

  it('has no physical name, so that it can be deployed twice and replaced', () => {
    const names = ['TableName', 'QueueName', 'FunctionName', 'RoleName', 'LogGroupName', 'ManagedPolicyName'];
    for (const name of stacks) {
      for (const [id, resource] of Object.entries(prod[name].toJSON().Resources as Record<string, object>)) {
        const { Type, Properties = {} } = resource as { Type: string; Properties?: object };
        if (Type === 'AWS::Lambda::EventSourceMapping' || Type === 'AWS::Lambda::Permission') continue; // references
        if (Type === 'AWS::Lambda::Version') continue;
        for (const property of names) expect(Properties, `${id}.${property}`).not.toHaveProperty(property);
      }
    }
  });
});
