import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Writes a small assembly as the CDK writes one: two stacks, of which the second refers to the first.
 *
 * @param changes - further resources of the first stack
 * @param change - edits the texts
 */
export function writeAssembly(
  directory: string,
  changes: Readonly<Record<string, object>> = {},
  change: (text: string) => string = text => text,
): void {
  for (const [name, content] of Object.entries(filesOf(changes))) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), change(content));
  }
}

function filesOf(changes: Readonly<Record<string, object>>): Readonly<Record<string, string>> {
  const data = {
    Resources: { AuthApi: api, BaseApi: api, Clients: table, ...changes },
    Outputs: {
      AuthUrl: { Value: { 'Fn::GetAtt': ['AuthApi', 'ApiEndpoint'] } },
      BaseUrl: { Value: { 'Fn::GetAtt': ['BaseApi', 'ApiEndpoint'] } },
      ClientsTable: { Value: { Ref: 'Clients' } },
      ExportsAuth: exported('AuthApi', { Ref: 'AuthApi' }),
      ExportsBase: exported('BaseApi', { Ref: 'BaseApi' }),
      ExportsUrl: exported('Url', { 'Fn::GetAtt': ['AuthApi', 'ApiEndpoint'] }),
    },
  };
  const auth = {
    Resources: {
      Token1A2B3C4D: {
        Type: 'AWS::Lambda::Function',
        Properties: {
          Code: { S3Bucket: 'assets', S3Key: 'token.zip' },
          Handler: 'index.handler',
          Runtime: 'nodejs24.x',
          Role: { 'Fn::GetAtt': ['Role', 'Arn'] },
          Environment: { Variables: { ISSUER: imported('Url') } },
        },
      },
      Role: { Type: 'AWS::IAM::Role', Properties: {} },
      Policy: { Type: 'AWS::IAM::Policy', Properties: { Roles: [{ Ref: 'Role' }], PolicyDocument: consuming } },
      Version: { Type: 'AWS::Lambda::Version', Properties: { FunctionName: { Ref: 'Token1A2B3C4D' } } },
      Trigger: { Type: 'Custom::Trigger', Properties: { ServiceToken: 'ignored', HandlerArn: { Ref: 'Version' } } },
      ...route('TokenRoute', 'AuthApi', 'ANY /token'),
      ...route('DefaultRoute', 'BaseApi', '$default'),
      Events: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 30 } },
      Mapping: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: { EventSourceArn: { 'Fn::GetAtt': ['Events', 'Arn'] }, FunctionName: { Ref: 'Token1A2B3C4D' } },
      },
    },
    Outputs: { EventsQueueUrl: { Value: { Ref: 'Events' } } },
  };
  const stack = (templateFile: string, ...dependencies: string[]) => ({
    type: 'aws:cloudformation:stack',
    properties: { templateFile },
    dependencies,
  });
  const artifacts = {
    'App-local-Auth': stack('auth.json', 'App-local-Data', 'Auth.assets'),
    'App-local-Data': stack('data.json'),
    'Auth.assets': { type: 'cdk:asset-manifest', properties: { file: 'assets.json' } },
    Tree: { type: 'cdk:tree', properties: { file: 'tree.json' } },
  };
  const token = { source: { path: 'asset.token' }, destinations: { here: { objectKey: 'token.zip' } } };
  return {
    'manifest.json': JSON.stringify({ artifacts }),
    'assets.json': JSON.stringify({ files: { token } }),
    'data.json': JSON.stringify(data),
    'auth.json': JSON.stringify(auth),
    'asset.token/index.mjs': code,
  };
}

const api = { Type: 'AWS::ApiGatewayV2::Api', Properties: { ProtocolType: 'HTTP' } };

const table = {
  Type: 'AWS::DynamoDB::GlobalTable',
  Properties: {
    AttributeDefinitions: [{ AttributeName: 'clientId', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'clientId', KeyType: 'HASH' }],
  },
};

const actions = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];
const consuming = { Statement: [{ Effect: 'Allow', Action: actions, Resource: { 'Fn::GetAtt': ['Events', 'Arn'] } }] };

const code = `
console.log('loaded');
export const handler = async event => {
  for (const record of event.Records ?? []) console.log('got ' + record.body);
  if (!event.routeKey) { console.log(event.Records ? 'batch' : 'triggered'); return; }
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ routeKey: event.routeKey, issuer: process.env.ISSUER }) };
};
`;

function exported(name: string, Value: object) {
  return { Value, Export: { Name: `App-local-Data:${name}` } };
}

function imported(name: string) {
  return { 'Fn::ImportValue': `App-local-Data:${name}` };
}

function route(id: string, apiName: string, RouteKey: string) {
  const integration = {
    ApiId: imported(apiName),
    IntegrationType: 'AWS_PROXY',
    IntegrationUri: { 'Fn::GetAtt': ['Token1A2B3C4D', 'Arn'] },
    PayloadFormatVersion: '2.0',
  };
  const Target = { 'Fn::Join': ['', ['integrations/', { Ref: `${id}Integration` }]] };
  return {
    [`${id}Integration`]: { Type: 'AWS::ApiGatewayV2::Integration', Properties: integration },
    [id]: { Type: 'AWS::ApiGatewayV2::Route', Properties: { ApiId: imported(apiName), RouteKey, Target } },
  };
}
