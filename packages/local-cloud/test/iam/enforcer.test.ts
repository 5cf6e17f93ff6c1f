import { describe, expect, it } from 'vitest';
import type { ServiceRequest } from '../../src/emulator.ts';
import { makeIamEnforcer } from '../../src/iam/enforcer.ts';
import { policyDocumentSchema } from '../../src/iam/policies.ts';
import { makeWrapping } from '../../src/kms/wrapping.ts';

/** Returns why a function without any permission may not do something. */
const denialOf = (service: ServiceRequest['service'], operation: string, input: ServiceRequest['input'] = {}) => {
  const { interceptor, enforce } = makeIamEnforcer(() => undefined);
  enforce(new Map([['Token', []]]));
  return interceptor({ service, operation, input, caller: 'Token' });
};

const arn = (service: string, resource: string) => `arn:aws:${service}:us-east-1:000000000000:${resource}`;

describe('the IAM enforcer', () => {
  it.each([
    ['dynamodb', 'PutItem', { TableName: 'T' }, `dynamodb:PutItem on resource: ${arn('dynamodb', 'table/T')}`],
    [
      'dynamodb',
      'Query',
      { TableName: 'T', IndexName: 'i' },
      `dynamodb:Query on resource: ${arn('dynamodb', 'table/T/index/i')}`,
    ],
    [
      'dynamodb',
      'Query',
      { TableName: 'T', KeyConditionExpression: 'k = :k', ExpressionAttributeValues: { ':k': { S: 'signing' } } },
      `dynamodb:Query on resource: ${arn('dynamodb', 'table/T')} dynamodb:LeadingKeys=signing`,
    ],
    [
      'dynamodb',
      'BatchGetItem',
      { RequestItems: { A: {}, B: {} } },
      `dynamodb:BatchGetItem on resource: ${arn('dynamodb', 'table/A')}`,
    ],
    [
      'dynamodb',
      'BatchExecuteStatement',
      { Statements: [{ Statement: `INSERT INTO "Tab" VALUE {'id':?}`, Parameters: [{ S: 'a' }] }] },
      `dynamodb:PartiQLInsert on resource: ${arn('dynamodb', 'table/Tab')}`,
    ],
    ['sqs', 'SendMessageBatch', { QueueUrl: 'http://x/0/Q' }, `sqs:SendMessage on resource: ${arn('sqs', 'Q')}`],
    ['sqs', 'GetQueueUrl', { QueueName: 'Q' }, `sqs:GetQueueUrl on resource: ${arn('sqs', 'Q')}`],
    ['sns', 'Publish', { TopicArn: arn('sns', 'T') }, `sns:Publish on resource: ${arn('sns', 'T')}`],
    [
      'kms',
      'Encrypt',
      { KeyId: '1', EncryptionContext: { purpose: 'mac' } },
      `kms:Encrypt on resource: ${arn('kms', 'key/1')} kms:EncryptionContext:purpose=mac`,
    ],
    [
      'kms',
      'Decrypt',
      { CiphertextBlob: makeWrapping(new Uint8Array(32)).wrap('2', new Uint8Array(1), {}).toString('base64') },
      `kms:Decrypt on resource: ${arn('kms', 'key/2')}`,
    ],
    ['logs', 'StartQuery', {}, 'logs:StartQuery on resource: *'],
  ] as const)('requires a permission: %s %s', (service, operation, input, needed) => {
    expect(denialOf(service, operation, input)?.message).toBe(`Token is not authorized to perform: ${needed}`);
  });

  it.each([
    ['dynamodb', 'AccessDeniedException', 400],
    ['sqs', 'AccessDeniedException', 403],
    ['sns', 'AuthorizationError', 403],
    ['kms', 'AccessDeniedException', 400],
  ] as const)('denies as %s does', (service, code, status) => {
    expect(denialOf(service, 'Any')).toMatchObject({ code, status });
  });

  it('reports denials, and restricts functions with policies only', () => {
    const denials: string[] = [];
    const { interceptor, enforce } = makeIamEnforcer(message => denials.push(message));
    const request = (caller: string, operation: string): ServiceRequest => {
      return { service: 'dynamodb', operation, input: { TableName: 'Clients' }, caller };
    };
    expect(interceptor(request('Token', 'PutItem'))).toBeUndefined(); // nothing is in force yet
    const Statement = [{ Effect: 'Allow', Action: 'dynamodb:GetItem', Resource: arn('dynamodb', 'table/Clients') }];
    enforce(new Map([['Token', policyDocumentSchema.parse({ Statement }).Statement]]));
    expect(interceptor(request('Token', 'GetItem'))).toBeUndefined();
    expect(interceptor(request('local', 'PutItem'))).toBeUndefined();
    expect(denials).toEqual([]);
    const denial = interceptor(request('Token', 'PutItem'));
    expect(denials).toEqual([denial?.message]);
  });

  it('requires all tables of a batch', () => {
    const { interceptor, enforce } = makeIamEnforcer(() => undefined);
    const Statement = [{ Effect: 'Allow', Action: 'dynamodb:BatchGetItem', Resource: arn('dynamodb', 'table/A') }];
    enforce(new Map([['Token', policyDocumentSchema.parse({ Statement }).Statement]]));
    const batch = (...tables: string[]) => {
      const RequestItems = Object.fromEntries(tables.map(table => [table, {}]));
      return interceptor({ service: 'dynamodb', operation: 'BatchGetItem', input: { RequestItems }, caller: 'Token' });
    };
    expect(batch('A')).toBeUndefined();
    expect(batch('A', 'B')?.message).toMatch(/table\/B$/);
  });
});
