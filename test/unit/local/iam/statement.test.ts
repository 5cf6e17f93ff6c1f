import { describe, expect, it } from 'vitest';
import { dynamoDbAccess, kmsAccess, snsAccess, sqsAccess } from '../../../../local/iam/access-requests.ts';
import { makeGate } from '../../../../local/iam/gate.ts';
import { isAllowed, policyDocumentSchema, type Statement } from '../../../../local/iam/statement.ts';

const table = 'arn:aws:dynamodb:us-east-1:000000000000:table/Clients';
const key = 'arn:aws:kms:us-east-1:000000000000:key/1';

const statements = (...given: object[]): Statement[] =>
  policyDocumentSchema.parse({ Statement: given.map(statement => ({ Effect: 'Allow', ...statement })) }).Statement;

const reading = statements({ Action: ['dynamodb:GetItem', 'dynamodb:Query'], Resource: table });
const signingOnly = statements({
  Action: 'kms:Decrypt',
  Resource: key,
  Condition: { StringEquals: { 'kms:EncryptionContext:purpose': ['signing', 'mac'] } },
});
const leading = statements({
  Action: 'dynamodb:Query',
  Resource: table,
  Condition: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['signing'] } },
});

const query = (kind: string) =>
  dynamoDbAccess('DynamoDB_20120810.Query', {
    TableName: 'Clients',
    KeyConditionExpression: 'kind = :kind',
    ExpressionAttributeValues: { ':kind': { S: kind } },
  });
const decrypt = (context?: object) => kmsAccess('Decrypt', { EncryptionContext: context }, key);

describe('a policy', () => {
  it.each([
    ['what it names', reading, dynamoDbAccess('DynamoDB_20120810.GetItem', { TableName: 'Clients' }), true],
    ['no other action', reading, dynamoDbAccess('DynamoDB_20120810.PutItem', { TableName: 'Clients' }), false],
    ['no other table', reading, dynamoDbAccess('DynamoDB_20120810.GetItem', { TableName: 'Users' }), false],
    ['no index unless named', reading, dynamoDbAccess('D.Query', { TableName: 'Clients', IndexName: 'due' }), false],
    ['the partition it is limited to', leading, query('signing'), true],
    ['no other partition', leading, query('sealing'), false],
    ['the encryption context it is limited to', signingOnly, decrypt({ purpose: 'mac' }), true],
    ['no other encryption context', signingOnly, decrypt({ purpose: 'sealing' }), false],
    ['nothing without the context it asks for', signingOnly, decrypt(), false],
    ['nothing when it is empty', [], dynamoDbAccess('D.GetItem', { TableName: 'Clients' }), false],
  ])('allows %s', (_what, policy, requests, allowed) => {
    expect(requests.every(request => isAllowed(policy, request))).toBe(allowed);
  });

  it('must cover every table of a batch', () => {
    const requests = dynamoDbAccess('DynamoDB_20120810.BatchGetItem', { RequestItems: { Clients: {}, Users: {} } });
    expect(requests.map(({ resource }) => resource.split('/').at(-1))).toEqual(['Clients', 'Users']);
  });

  it.each([
    [
      'a batch of messages',
      sqsAccess('AmazonSQS.SendMessageBatch', { QueueUrl: 'http://x/0/Retry' }),
      'sqs:SendMessage',
    ],
    [
      'a visibility',
      sqsAccess('AmazonSQS.ChangeMessageVisibility', { QueueUrl: 'http://x/0/Q' }),
      'sqs:ChangeMessageVisibility',
    ],
    ['a notification', snsAccess({ Action: 'Publish', TopicArn: 'arn:aws:sns:us-east-1:0:T' }), 'sns:Publish'],
  ])('needs the action of %s', (_what, [request], action) => {
    expect(request?.action).toBe(action);
  });

  it('that is not understood stops the run rather than letting everything pass', () => {
    const condition = { DateLessThan: { 'aws:CurrentTime': '2020-01-01T00:00:00Z' } };
    expect(() => statements({ Action: 'a:B', Resource: '*', Condition: condition })).toThrow();
    expect(() => statements({ Effect: 'Deny', Action: 'a:B', Resource: '*' })).toThrow();
  });
});

describe('the gate', () => {
  const signedBy = (accessKeyId: string) => ({
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20261120/us-east-1/dynamodb/aws4_request, Signature=0`,
  });

  it('refuses a function what its role may not, says so, and lets everybody else pass', () => {
    const told: string[] = [];
    const gate = makeGate(message => told.push(message));
    gate.enforce(new Map([['Token', reading]]));
    const put = () => dynamoDbAccess('DynamoDB_20120810.PutItem', { TableName: 'Clients' });
    expect(gate.refusal(signedBy('Token'), put)).toBe(
      `Token is not authorized to perform: dynamodb:PutItem on resource: ${table}`,
    );
    expect(told).toHaveLength(1);
    expect(gate.refusal(signedBy('local'), put)).toBeUndefined();
    expect(
      gate.refusal(signedBy('Token'), () => dynamoDbAccess('D.GetItem', { TableName: 'Clients' })),
    ).toBeUndefined();
  });
});
