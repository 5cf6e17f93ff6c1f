import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeWrapping } from '../../../src/kms/wrapping.ts';
import type { ServiceRequest } from '../../../src/local/emulator.ts';
import { makeIamEnforcer } from '../../../src/local/iam/enforcer.ts';
import { isAllowed, policyDocumentSchema, type Statement } from '../../../src/local/iam/policies.ts';

const arn = (service: string, resource: string) => `arn:aws:${service}:us-east-1:000000000000:${resource}`;
const [table, key] = [arn('dynamodb', 'table/Clients'), arn('kms', 'key/1')];

const statements = (...allowed: object[]): Statement[] =>
  policyDocumentSchema.parse({ Statement: allowed.map(statement => ({ Effect: 'Allow', ...statement })) }).Statement;

const reading = statements({ Action: ['dynamodb:GetItem', 'dynamodb:Query'], Resource: table });
const anyIndex = statements({ Action: 'dynamodb:Query', Resource: `${table}/index/*` });
const signingOnly = statements({
  Action: 'kms:Decrypt',
  Resource: key,
  Condition: { StringEquals: { 'kms:EncryptionContext:purpose': ['signing', 'mac'] } },
});
const signingPartition = statements({
  Action: 'dynamodb:Query',
  Resource: table,
  Condition: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['signing'] } },
});

const onTable = (action: string, resource = table) => ({ action: `dynamodb:${action}`, resource });
const query = (...keys: string[]) => ({ ...onTable('Query'), context: { 'dynamodb:LeadingKeys': keys } });
const decrypt = (...purposes: string[]) => {
  return { action: 'kms:Decrypt', resource: key, context: { 'kms:EncryptionContext:purpose': purposes } };
};

describe('a policy', () => {
  it.each([
    ['its action', reading, onTable('GetItem'), true],
    ['no other action', reading, onTable('PutItem'), false],
    ['no other table', reading, onTable('GetItem', table.replace('Clients', 'Users')), false],
    ['no index of its table', reading, onTable('Query', `${table}/index/due`), false],
    ['a resource that matches a wildcard', anyIndex, onTable('Query', `${table}/index/due`), true],
    ['no resource that does not match a wildcard', anyIndex, onTable('Query'), false],
    ['its partition', signingPartition, query('signing'), true],
    ['no other partition', signingPartition, query('encryption'), false],
    ['its encryption context', signingOnly, decrypt('mac'), true],
    ['no other encryption context', signingOnly, decrypt('encryption'), false],
    ['no request without its encryption context', signingOnly, decrypt(), false],
    ['no request without a context', signingOnly, { action: 'kms:Decrypt', resource: key }, false],
    ['no request if it is empty', [], onTable('GetItem'), false],
  ])('allows %s', (_what, policy, request, allowed) => {
    expect(isAllowed(policy, request)).toBe(allowed);
  });

  it('is rejected if it has an unsupported element', () => {
    const condition = { DateLessThan: { 'aws:CurrentTime': '2020-01-01T00:00:00Z' } };
    expect(() => statements({ Action: 'a:B', Resource: '*', Condition: condition })).toThrow();
    expect(() => statements({ Effect: 'Deny', Action: 'a:B', Resource: '*' })).toThrow();
  });
});

/** Returns the error for a function without permissions. */
const denialOf = (service: ServiceRequest['service'], operation: string, input: ServiceRequest['input'] = {}) => {
  const { interceptor, enforce } = makeIamEnforcer(() => undefined);
  enforce(new Map([['Token', []]]));
  return interceptor({ service, operation, input, caller: 'Token' });
};

describe('the IAM enforcer', () => {
  const ofSigning = { KeyConditionExpression: 'k = :k', ExpressionAttributeValues: { ':k': { S: 'signing' } } };
  const insertion = { Statement: `INSERT INTO "Tab" VALUE {'id':?}`, Parameters: [{ S: 'a' }] };
  const CiphertextBlob = makeWrapping(new Uint8Array(32), randomBytes)
    .wrap(arn('kms', 'key/2'), new Uint8Array(1))
    .toString('base64');
  it.each<[ServiceRequest['service'], string, object, action: string, resource: string, context?: string]>([
    ['dynamodb', 'PutItem', { TableName: 'T' }, 'PutItem', 'table/T'],
    ['dynamodb', 'Query', { TableName: 'T', IndexName: 'i' }, 'Query', 'table/T/index/i'],
    ['dynamodb', 'Query', { TableName: 'T', ...ofSigning }, 'Query', 'table/T', 'dynamodb:LeadingKeys=signing'],
    ['dynamodb', 'BatchGetItem', { RequestItems: { A: {}, B: {} } }, 'BatchGetItem', 'table/A'],
    ['dynamodb', 'BatchExecuteStatement', { Statements: [insertion] }, 'PartiQLInsert', 'table/Tab'],
    ['sqs', 'SendMessageBatch', { QueueUrl: 'http://x/0/Q' }, 'SendMessage', 'Q'],
    ['sns', 'Publish', { TopicArn: arn('sns', 'T') }, 'Publish', 'T'],
    ['kms', 'Encrypt', { KeyId: '1', EncryptionContext: { a: 'b' } }, 'Encrypt', 'key/1', 'kms:EncryptionContext:a=b'],
    ['kms', 'Decrypt', { CiphertextBlob }, 'Decrypt', 'key/2'],
  ])('requires the permission for %s %s %j', (service, operation, input, action, resource, context) => {
    const needed = `${service}:${action} on resource: ${arn(service, resource)}${context ? ` ${context}` : ''}`;
    expect(denialOf(service, operation, { ...input })?.message).toBe(`Token is not authorized to perform: ${needed}`);
  });

  it.each([
    ['dynamodb', 'AccessDeniedException'],
    ['sns', 'AuthorizationError'],
  ] as const)('returns the error of %s', (service, name) => {
    expect(denialOf(service, 'Any')).toMatchObject({ name, $fault: 'client' });
  });

  it('reports denials, and restricts only functions with policies', () => {
    const denials: string[] = [];
    const { interceptor, enforce } = makeIamEnforcer(message => denials.push(message));
    const request = (caller: string, operation: string): ServiceRequest => {
      return { service: 'dynamodb', operation, input: { TableName: 'Clients' }, caller };
    };
    expect(interceptor(request('Token', 'PutItem'))).toBeUndefined(); // before `enforce`
    enforce(
      new Map([['Token', statements({ Action: 'dynamodb:GetItem', Resource: arn('dynamodb', 'table/Clients') })]]),
    );
    expect(interceptor(request('Token', 'GetItem'))).toBeUndefined();
    expect(interceptor(request('local', 'PutItem'))).toBeUndefined();
    expect(denials).toEqual([]);
    const denial = interceptor(request('Token', 'PutItem'));
    expect(denials).toEqual([denial?.message]);
  });

  it('requires permissions for all tables of a batch', () => {
    const { interceptor, enforce } = makeIamEnforcer(() => undefined);
    enforce(
      new Map([['Token', statements({ Action: 'dynamodb:BatchGetItem', Resource: arn('dynamodb', 'table/A') })]]),
    );
    const batch = (...tables: string[]) => {
      const RequestItems = Object.fromEntries(tables.map(table => [table, {}]));
      return interceptor({ service: 'dynamodb', operation: 'BatchGetItem', input: { RequestItems }, caller: 'Token' });
    };
    expect(batch('A')).toBeUndefined();
    expect(batch('A', 'B')?.message).toMatch(/table\/B$/);
  });
});
