import { describe, expect, it } from 'vitest';
import { type Resource, resourcesOf, type StackName, stageTemplates } from './templates.ts';

const own = stageTemplates('prod', { encryption: 'customer-managed' });
const plain = stageTemplates('prod');
const keysOf = (templates: typeof own, stack: StackName) => resourcesOf(templates[stack], 'AWS::KMS::Key');
const dataKey = (stack: StackName): [string, Resource['Properties']] => {
  const [[id, key] = ['', undefined]] = keysOf(own, stack).filter(([key]) => key.startsWith('DataKey'));
  return [id, key?.Properties];
};
const isLook = ({ Action }: { Action?: unknown }): boolean => Action === 'kms:DescribeKey';

describe('a stage whose account owns the keys', () => {
  it('encrypts every table with the key for tables', () => {
    const [id] = dataKey('Data');
    const tables = resourcesOf(own.Data, 'AWS::DynamoDB::GlobalTable');
    expect(tables).toHaveLength(8);
    for (const [name, { Properties }] of tables) {
      expect(Properties.SSESpecification, name).toEqual({ SSEEnabled: true, SSEType: 'KMS' });
      expect(Properties.Replicas[0].SSESpecification, name).toEqual({
        KMSMasterKeyId: { 'Fn::GetAtt': [id, 'Arn'] },
      });
    }
  });

  it('encrypts every queue with the key for queues', () => {
    const [id] = dataKey('Delivery');
    const queues = resourcesOf(own.Delivery, 'AWS::SQS::Queue');
    expect(queues).toHaveLength(4);
    for (const [name, { Properties }] of queues) {
      expect(Properties.KmsMasterKeyId, name).toEqual({ 'Fn::GetAtt': [id, 'Arn'] });
      expect(Properties.SqsManagedSseEnabled, name).not.toBe(true);
    }
  });

  it.each([
    ['Data', 'dynamodb', ['kms:Decrypt', 'kms:CreateGrant', 'kms:DescribeKey']],
    ['Delivery', 'sqs', ['kms:GenerateDataKey', 'kms:Decrypt']],
  ] as const)('lets its own account use the key in %s by way of %s and of nothing else', (stack, service, actions) => {
    const [, key] = dataKey(stack);
    const [root, use, ...others] = key.KeyPolicy.Statement;
    expect(others).toEqual([]);
    expect(root.Principal).toEqual({ AWS: 'arn:aws:iam::111122223333:root' });
    expect(use).toMatchObject({
      Effect: 'Allow',
      Principal: { AWS: '*' },
      Action: expect.arrayContaining(actions as unknown as string[]),
      Condition: {
        StringEquals: { 'kms:CallerAccount': '111122223333', 'kms:ViaService': `${service}.sa-east-1.amazonaws.com` },
      },
    });
    expect(JSON.stringify(use.Action)).not.toContain('*');
    expect(key.EnableKeyRotation).toBe(true);
  });

  it('gives functions and publishers no permission more, but for the sweeper’s look at both keys', () => {
    const policies = (templates: typeof own) =>
      ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy']
        .flatMap(type => resourcesOf(templates, type))
        .map(([id, { Properties }]) => [id, Properties.PolicyDocument.Statement.filter((one: object) => !isLook(one))]);
    expect(policies(own)).toEqual(policies(plain));
    const looks = resourcesOf(own, 'AWS::IAM::Policy').flatMap(([, { Properties }]) =>
      Properties.PolicyDocument.Statement.filter(isLook),
    );
    expect(looks).toHaveLength(1);
    expect(looks[0].Resource).toHaveLength(3);
    const [, sweep] = resourcesOf(own.Delivery, 'AWS::Lambda::Function').find(([id]) => id.startsWith('Sweep')) ?? [];
    const [, parts] = sweep?.Properties.Environment.Variables.KEY_ARNS['Fn::Join'] ?? [];
    expect(new Set(parts)).toEqual(new Set([...looks[0].Resource, ',']));
    expect(parts).toContainEqual({ 'Fn::GetAtt': [dataKey('Delivery')[0], 'Arn'] });
  });

  // No import: AWS would refuse to take the key away while the deployed sweeper imports its ARN.
  it('tells operators the key for tables, and the sweeper by a parameter', () => {
    const Value = { 'Fn::GetAtt': [dataKey('Data')[0], 'Arn'] };
    const Name = '/emissor/prod/tables-key';
    own.Data.hasOutput('TablesKeyArn', { Value });
    own.Data.hasResourceProperties('AWS::SSM::Parameter', { Name, Value });
    const parameter = { Type: 'AWS::SSM::Parameter::Value<String>', Default: Name };
    expect(Object.values(own.Delivery.toJSON().Parameters)).toContainEqual(parameter);
  });
});

describe('any other stage', () => {
  it('has the keys of AWS, and one of its own for the keyring', () => {
    expect(keysOf(plain, 'Data').map(([id]) => id)).toEqual(['Key961B73FD']);
    expect(keysOf(plain, 'Delivery')).toEqual([]);
    for (const [id, { Properties }] of resourcesOf(plain.Delivery, 'AWS::SQS::Queue')) {
      expect(Properties.SqsManagedSseEnabled, id).toBe(true);
    }
  });
});
