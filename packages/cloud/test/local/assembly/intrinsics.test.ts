import { describe, expect, it } from 'vitest';
import type { Stack, Template } from '../../../src/local/assembly/assembly.ts';
import { makeResolver } from '../../../src/local/assembly/intrinsics.ts';
import { resolveTemplate } from '../../../src/local/assembly/resources.ts';
import { StartError } from '../../../src/local/errors.ts';

/** Returns a placeholder for Fn::Sub. */
const slot = (name: string): string => `\${${name}}`;

const resources: Template['Resources'] = {
  Clients: { Type: 'AWS::DynamoDB::GlobalTable' },
  Queue: { Type: 'AWS::SQS::Queue' },
  Key: { Type: 'AWS::KMS::Key' },
  Handler: { Type: 'AWS::Lambda::Function' },
  HandlerVersion: { Type: 'AWS::Lambda::Version', Properties: { FunctionName: { Ref: 'Handler' } } },
  HandlerAlias: { Type: 'AWS::Lambda::Alias', Properties: { FunctionName: { Ref: 'Handler' }, Name: 'live' } },
  Api: { Type: 'AWS::ApiGatewayV2::Api' },
  Role: { Type: 'AWS::IAM::Role' },
  Policy: { Type: 'AWS::IAM::ManagedPolicy' },
  Logs: { Type: 'AWS::Logs::LogGroup' },
  Topic: { Type: 'AWS::SNS::Topic' },
  Number: { Type: 'AWS::SSM::Parameter', Properties: { Name: '/app/number', Value: '7' } },
};
const data: Stack = {
  name: 'App-Data',
  template: {
    Parameters: { Stored: { Default: '/app/number' }, Secret: { Default: 'x' } },
    Resources: resources,
    Outputs: {
      ClientsTable: { Value: { Ref: 'Clients' } },
      TableArn: { Value: { 'Fn::GetAtt': ['Clients', 'Arn'] }, Export: { Name: 'App-Data:TableArn' } },
    },
  },
};
const addresses = {
  queueUrl: (name: string) => `http://127.0.0.1:9/000000000000/${name}`,
  apiEndpoint: () => 'http://127.0.0.1:4000',
};
const resolve = makeResolver([data, { name: 'App-Auth', template: { Resources: {} } }], addresses);
const arn = (rest: string) => `arn:aws:${rest}`;

it.each([
  [{ Ref: 'Clients' }, 'App-Data-Clients'],
  [{ 'Fn::GetAtt': ['Clients', 'Arn'] }, arn('dynamodb:us-east-1:000000000000:table/App-Data-Clients')],
  [{ Ref: 'Queue' }, 'http://127.0.0.1:9/000000000000/App-Data-Queue'],
  [{ 'Fn::GetAtt': ['Queue', 'Arn'] }, arn('sqs:us-east-1:000000000000:App-Data-Queue')],
  [{ 'Fn::GetAtt': ['Key', 'Arn'] }, arn('kms:us-east-1:000000000000:key/App-Data-Key')],
  [{ 'Fn::GetAtt': ['Handler', 'Arn'] }, arn('lambda:us-east-1:000000000000:function:App-Data-Handler')],
  [{ Ref: 'HandlerVersion' }, arn('lambda:us-east-1:000000000000:function:App-Data-Handler:1')],
  [{ Ref: 'HandlerAlias' }, arn('lambda:us-east-1:000000000000:function:App-Data-Handler:live')],
  [{ 'Fn::GetAtt': ['Api', 'ApiEndpoint'] }, 'http://127.0.0.1:4000'],
  [{ 'Fn::GetAtt': ['Role', 'Arn'] }, arn('iam::000000000000:role/App-Data-Role')],
  [{ Ref: 'Policy' }, arn('iam::000000000000:policy/App-Data-Policy')],
  [{ 'Fn::GetAtt': ['Logs', 'Arn'] }, arn('logs:us-east-1:000000000000:log-group:App-Data-Logs:*')],
  [{ Ref: 'Topic' }, arn('sns:us-east-1:000000000000:App-Data-Topic')],
  [{ Ref: 'Stored' }, '7'],
  [{ Ref: 'AWS::AccountId' }, '000000000000'],
  [{ 'Fn::Join': ['-', ['a', { Ref: 'AWS::Region' }, 'b']] }, 'a-us-east-1-b'],
  [{ 'Fn::Select': [2, { 'Fn::Split': ['/', { 'Fn::GetAtt': ['Api', 'ApiEndpoint'] }] }] }, '127.0.0.1:4000'],
  [{ 'Fn::Sub': `x ${slot('AWS::Region')} ${slot('Clients')}` }, 'x us-east-1 App-Data-Clients'],
  [{ 'Fn::ImportValue': 'App-Data:TableArn' }, arn('dynamodb:us-east-1:000000000000:table/App-Data-Clients')],
  [{ Plain: ['x', null, 3, { nested: true }] }, { Plain: ['x', null, 3, { nested: true }] }],
])('resolves %j to %j', (node, expected) => {
  expect(resolve(node, data)).toEqual(expected);
});

it.each([
  [{ 'Fn::FindInMap': ['a', 'b', 'c'] }, /App-Data uses Fn::FindInMap/],
  [{ Ref: 'Nothing' }, /App-Data refers to "Nothing"/],
  [{ 'Fn::ImportValue': 'nobody' }, /No stack exports "nobody"/],
  [{ 'Fn::Join': ['-', 'not a list'] }, /needs a list/],
  [{ Ref: 'Secret' }, /parameter without a value: Secret/],
  [{ 'Fn::GetAtt': ['Queue', 'Color'] }, /App-Data-Queue: .* no attribute "Color" for AWS::SQS::Queue/],
])('rejects %j and reports the reason', (node, message) => {
  expect(() => resolve(node, data)).toThrow(StartError);
  expect(() => resolve(node, data)).toThrow(message);
});

describe('a template', () => {
  const resolveWith = (Resources: Template['Resources']) =>
    resolveTemplate({ assets: new Map(), stacks: [{ ...data, template: { ...data.template, Resources } }] }, addresses);

  it('resolves to the emulated resources and the outputs without an export', () => {
    const { resources: live, outputs } = resolveWith(resources);
    expect(live.map(({ name }) => name)).toEqual(
      ['Clients', 'Queue', 'Key', 'Handler', 'Api'].map(id => `App-Data-${id}`),
    );
    expect(outputs).toEqual({ ClientsTable: 'App-Data-Clients' });
  });

  it('is rejected if it has an unsupported resource type', () => {
    const rejected = () => resolveWith({ Bucket: { Type: 'AWS::S3::Bucket' } });
    expect(rejected).toThrow('does not support the resource type AWS::S3::Bucket (App-Data-Bucket)');
  });
});
