import { describe, expect, it } from 'vitest';
import type { Stack, Template } from '../../../src/local/assembly/assembly.ts';
import { makeEnvironment } from '../../../src/local/assembly/identities.ts';
import { makeResolver } from '../../../src/local/assembly/intrinsics.ts';
import { StartError } from '../../../src/local/errors.ts';

const stack = (name: string, template: Partial<Template>): Stack => ({
  name,
  template: { Parameters: {}, Resources: {}, Outputs: {}, ...template },
});

/** `${name}`, as Fn::Sub has it. */
const slot = (name: string): string => `\${${name}}`;

const data = stack('App-Data', {
  Parameters: {
    Size: { Type: 'Number', Default: 3 },
    Secret: { Type: 'AWS::SSM::Parameter::Value<String>', Default: 'x' },
    Stored: { Type: 'AWS::SSM::Parameter::Value<String>', Default: '/app/number' },
  },
  Resources: {
    Clients: { Type: 'AWS::DynamoDB::GlobalTable', Properties: {} },
    Named: { Type: 'AWS::DynamoDB::GlobalTable', Properties: { TableName: 'given' } },
    Queue: { Type: 'AWS::SQS::Queue', Properties: {} },
    Key: { Type: 'AWS::KMS::Key', Properties: {} },
    Handler: { Type: 'AWS::Lambda::Function', Properties: {} },
    HandlerVersion: { Type: 'AWS::Lambda::Version', Properties: { FunctionName: { Ref: 'Handler' } } },
    HandlerAlias: { Type: 'AWS::Lambda::Alias', Properties: { FunctionName: { Ref: 'Handler' }, Name: 'live' } },
    Api: { Type: 'AWS::ApiGatewayV2::Api', Properties: {} },
    Role: { Type: 'AWS::IAM::Role', Properties: {} },
    Policy: { Type: 'AWS::IAM::ManagedPolicy', Properties: {} },
    Logs: { Type: 'AWS::Logs::LogGroup', Properties: {} },
    Alarm: { Type: 'AWS::CloudWatch::Alarm', Properties: {} },
    Topic: { Type: 'AWS::SNS::Topic', Properties: {} },
    Number: { Type: 'AWS::SSM::Parameter', Properties: { Name: '/app/number', Value: '7' } },
  },
  Outputs: { TableArn: { Value: { 'Fn::GetAtt': ['Clients', 'Arn'] }, Export: { Name: 'App-Data:TableArn' } } },
});
const auth = stack('App-Auth', {});

const resolve = makeResolver(
  [data, auth],
  makeEnvironment({
    queueUrl: name => `http://127.0.0.1:9/000000000000/${name}`,
    apiEndpoint: () => 'http://127.0.0.1:4000',
  }),
);

describe('references and attributes', () => {
  it.each([
    [{ Ref: 'Clients' }, 'App-Data-Clients'],
    [{ Ref: 'Named' }, 'given'],
    [{ 'Fn::GetAtt': ['Clients', 'Arn'] }, 'arn:aws:dynamodb:us-east-1:000000000000:table/App-Data-Clients'],
    [{ 'Fn::GetAtt': 'Clients.Arn' }, 'arn:aws:dynamodb:us-east-1:000000000000:table/App-Data-Clients'],
    [{ Ref: 'Queue' }, 'http://127.0.0.1:9/000000000000/App-Data-Queue'],
    [{ 'Fn::GetAtt': ['Queue', 'Arn'] }, 'arn:aws:sqs:us-east-1:000000000000:App-Data-Queue'],
    [{ 'Fn::GetAtt': ['Queue', 'QueueName'] }, 'App-Data-Queue'],
    [{ 'Fn::GetAtt': ['Handler', 'Arn'] }, 'arn:aws:lambda:us-east-1:000000000000:function:App-Data-Handler'],
    [{ Ref: 'HandlerVersion' }, 'arn:aws:lambda:us-east-1:000000000000:function:App-Data-Handler:1'],
    [{ Ref: 'HandlerAlias' }, 'arn:aws:lambda:us-east-1:000000000000:function:App-Data-Handler:live'],
    [{ 'Fn::GetAtt': ['Api', 'ApiEndpoint'] }, 'http://127.0.0.1:4000'],
    [{ Ref: 'Role' }, 'App-Data-Role'],
    [{ 'Fn::GetAtt': ['Role', 'Arn'] }, 'arn:aws:iam::000000000000:role/App-Data-Role'],
    [{ 'Fn::GetAtt': ['Alarm', 'Arn'] }, 'arn:aws:local:us-east-1:000000000000:App-Data-Alarm'],
    [{ Ref: 'Policy' }, 'arn:aws:iam::000000000000:policy/App-Data-Policy'],
    [{ 'Fn::GetAtt': ['Logs', 'Arn'] }, 'arn:aws:logs:us-east-1:000000000000:log-group:App-Data-Logs:*'],
    [{ Ref: 'Topic' }, 'arn:aws:sns:us-east-1:000000000000:App-Data-Topic'],
    [{ Ref: 'Size' }, 3],
    [{ Ref: 'Stored' }, '7'],
    [{ Ref: 'AWS::Region' }, 'us-east-1'],
    [{ Ref: 'AWS::AccountId' }, '000000000000'],
    [{ Ref: 'AWS::Partition' }, 'aws'],
    [{ Ref: 'AWS::StackName' }, 'App-Data'],
  ])('%j is %j', (node, expected) => {
    expect(resolve(node, data)).toBe(expected);
  });

  it('ids of keys and APIs have the form that AWS gives them, the same on every run', () => {
    expect(resolve({ Ref: 'Key' }, data)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(resolve({ 'Fn::GetAtt': ['Key', 'Arn'] }, data)).toBe(
      `arn:aws:kms:us-east-1:000000000000:key/${resolve({ Ref: 'Key' }, data)}`,
    );
    expect(resolve({ Ref: 'Api' }, data)).toMatch(/^[a-z0-9]{10}$/);
  });
});

describe('functions', () => {
  it.each([
    [{ 'Fn::Join': ['-', ['a', { Ref: 'AWS::Region' }, 'b']] }, 'a-us-east-1-b'],
    [{ 'Fn::Join': ['', ['integrations/', { Ref: 'Role' }]] }, 'integrations/App-Data-Role'],
    [{ 'Fn::Split': ['/', 'http://host/path'] }, ['http:', '', 'host', 'path']],
    [{ 'Fn::Select': [2, { 'Fn::Split': ['/', { 'Fn::GetAtt': ['Api', 'ApiEndpoint'] }] }] }, '127.0.0.1:4000'],
    [{ 'Fn::Select': ['1', ['a', 'b']] }, 'b'],
    [
      { 'Fn::Sub': `x ${slot('AWS::Region')} ${slot('Clients')} ${slot('Clients.Arn')} ${slot('!Literal')}` },
      `x us-east-1 App-Data-Clients arn:aws:dynamodb:us-east-1:000000000000:table/App-Data-Clients ${slot('Literal')}`,
    ],
    [{ 'Fn::Sub': [`${slot('a')}/${slot('Size')}`, { a: { Ref: 'AWS::AccountId' } }] }, '000000000000/3'],
    [{ 'Fn::ImportValue': 'App-Data:TableArn' }, 'arn:aws:dynamodb:us-east-1:000000000000:table/App-Data-Clients'],
    [{ a: { Ref: 'AWS::NoValue' }, b: [{ Ref: 'AWS::NoValue' }, 1] }, { b: [1] }],
    [{ Plain: ['x', null, 3, { nested: true }] }, { Plain: ['x', null, 3, { nested: true }] }],
  ])('%j', (node, expected) => {
    expect(resolve(node, data)).toEqual(expected);
  });
});

describe('what cannot be resolved is named', () => {
  it.each([
    [{ 'Fn::FindInMap': ['a', 'b', 'c'] }, /App-Auth uses Fn::FindInMap/],
    [{ Ref: 'Nothing' }, /App-Auth refers to "Nothing"/],
    [{ 'Fn::ImportValue': 'nobody' }, /No stack exports "nobody"/],
    [{ 'Fn::Join': ['-', 'not a list'] }, /Fn::Join needs a list/],
  ])('%j', (node, message) => {
    expect(() => resolve(node, auth)).toThrow(StartError);
    expect(() => resolve(node, auth)).toThrow(message);
  });

  it('a parameter without a default, an attribute that does not exist', () => {
    expect(() => resolve({ Ref: 'Secret' }, data)).toThrow(/parameter without a value of its own: Secret/);
    expect(() => resolve({ 'Fn::GetAtt': ['Queue', 'Color'] }, data)).toThrow(
      /no attribute "Color" for AWS::SQS::Queue/,
    );
  });
});
