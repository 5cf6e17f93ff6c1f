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
  const ofSigning = { KeyConditionExpression: 'k = :k', ExpressionAttributeValues: { ':k': { S: 'signing' } } };
  const insertion = { Statement: `INSERT INTO "Tab" VALUE {'id':?}`, Parameters: [{ S: 'a' }] };
  const CiphertextBlob = makeWrapping(new Uint8Array(32)).wrap('2', new Uint8Array(1), {}).toString('base64');
  it.each<[ServiceRequest['service'], string, object, action: string, resource: string, context?: string]>([
    ['dynamodb', 'PutItem', { TableName: 'T' }, 'PutItem', 'table/T'],
    ['dynamodb', 'Query', { TableName: 'T', IndexName: 'i' }, 'Query', 'table/T/index/i'],
    ['dynamodb', 'Query', { TableName: 'T', ...ofSigning }, 'Query', 'table/T', 'dynamodb:LeadingKeys=signing'],
    ['dynamodb', 'BatchGetItem', { RequestItems: { A: {}, B: {} } }, 'BatchGetItem', 'table/A'],
    ['dynamodb', 'BatchExecuteStatement', { Statements: [insertion] }, 'PartiQLInsert', 'table/Tab'],
    ['sqs', 'SendMessageBatch', { QueueUrl: 'http://x/0/Q' }, 'SendMessage', 'Q'],
    ['sqs', 'GetQueueUrl', { QueueName: 'Q' }, 'GetQueueUrl', 'Q'],
    ['sns', 'Publish', { TopicArn: arn('sns', 'T') }, 'Publish', 'T'],
    ['kms', 'Encrypt', { KeyId: '1', EncryptionContext: { a: 'b' } }, 'Encrypt', 'key/1', 'kms:EncryptionContext:a=b'],
    ['kms', 'Decrypt', { CiphertextBlob }, 'Decrypt', 'key/2'],
  ])('requires a permission: %s %s %j', (service, operation, input, action, resource, context) => {
    const needed = `${service}:${action} on resource: ${arn(service, resource)}${context ? ` ${context}` : ''}`;
    expect(denialOf(service, operation, { ...input })?.message).toBe(`Token is not authorized to perform: ${needed}`);
  });

  it('requires a permission for all logs', () => {
    expect(denialOf('logs', 'StartQuery')?.message).toMatch(/logs:StartQuery on resource: \*$/);
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
