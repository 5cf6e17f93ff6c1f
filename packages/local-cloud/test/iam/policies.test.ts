import { describe, expect, it } from 'vitest';
import { isAllowed, policyDocumentSchema, type Statement } from '../../src/iam/policies.ts';

const table = 'arn:aws:dynamodb:us-east-1:000000000000:table/Clients';
const key = 'arn:aws:kms:us-east-1:000000000000:key/1';

const statements = (...given: object[]): Statement[] =>
  policyDocumentSchema.parse({ Statement: given.map(statement => ({ Effect: 'Allow', ...statement })) }).Statement;

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
    ['what it names', reading, onTable('GetItem'), true],
    ['no other action', reading, onTable('PutItem'), false],
    ['no other table', reading, onTable('GetItem', table.replace('Clients', 'Users')), false],
    ['no index unless named', reading, onTable('Query', `${table}/index/due`), false],
    ['what a wildcard covers', anyIndex, onTable('Query', `${table}/index/due`), true],
    ['nothing that a wildcard does not cover', anyIndex, onTable('Query'), false],
    ['the partition it is limited to', signingPartition, query('signing'), true],
    ['no other partition', signingPartition, query('sealing'), false],
    ['the encryption context it is limited to', signingOnly, decrypt('mac'), true],
    ['no other encryption context', signingOnly, decrypt('sealing'), false],
    ['nothing without the context it requires', signingOnly, decrypt(), false],
    ['nothing when it is empty', [], onTable('GetItem'), false],
  ])('allows %s', (_what, policy, request, allowed) => {
    expect(isAllowed(policy, request)).toBe(allowed);
  });

  it('with an element that is not supported stops the run rather than allowing everything', () => {
    const condition = { DateLessThan: { 'aws:CurrentTime': '2020-01-01T00:00:00Z' } };
    expect(() => statements({ Action: 'a:B', Resource: '*', Condition: condition })).toThrow();
    expect(() => statements({ Effect: 'Deny', Action: 'a:B', Resource: '*' })).toThrow();
  });
});
