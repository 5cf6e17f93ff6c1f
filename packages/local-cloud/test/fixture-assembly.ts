const code = `
console.log('loaded');
export const handler = async event => {
  for (const record of event.Records ?? []) console.log('got ' + record.body);
  if (!event.routeKey) { console.log(event.Records ? 'batch' : 'triggered'); return; }
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ routeKey: event.routeKey, issuer: process.env.ISSUER }) };
};
`;

const api = (name: string) => ({
  [name]: { Type: 'AWS::ApiGatewayV2::Api', Properties: { Name: name, ProtocolType: 'HTTP' } },
  [`${name}Stage`]: {
    Type: 'AWS::ApiGatewayV2::Stage',
    Properties: { ApiId: { Ref: name }, StageName: '$default', AutoDeploy: true },
  },
});

const table = (keys: Record<string, string>) => ({
  Type: 'AWS::DynamoDB::GlobalTable',
  Properties: {
    AttributeDefinitions: Object.keys(keys).map(AttributeName => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: Object.entries(keys).map(([AttributeName, KeyType]) => ({ AttributeName, KeyType })),
  },
});

const imported = (name: string) => ({ 'Fn::ImportValue': `App-local-Data:${name}` });

const route = (id: string, apiName: string, RouteKey: string) => ({
  [`${id}Integration`]: {
    Type: 'AWS::ApiGatewayV2::Integration',
    Properties: {
      ApiId: imported(apiName),
      IntegrationType: 'AWS_PROXY',
      IntegrationUri: { 'Fn::GetAtt': ['Token1A2B3C4D', 'Arn'] },
      PayloadFormatVersion: '2.0',
    },
  },
  [id]: {
    Type: 'AWS::ApiGatewayV2::Route',
    Properties: {
      ApiId: imported(apiName),
      RouteKey,
      AuthorizationType: 'NONE',
      Target: { 'Fn::Join': ['', ['integrations/', { Ref: `${id}Integration` }]] },
    },
  },
});

const exported = (name: string, Value: unknown) => ({ Value, Export: { Name: `App-local-Data:${name}` } });

/**
 * A small assembly as the CDK writes one: two stacks, of which the second refers to the first.
 *
 * @param changes - further resources of the first stack
 * @returns the content of each file, by its path
 */
export const makeAssembly = (changes: Record<string, object> = {}): Record<string, string> => {
  const data = {
    Resources: {
      ...api('AuthApi'),
      ...api('BaseApi'),
      Clients: table({ clientId: 'HASH' }),
      Users: table({ userId: 'HASH' }),
      Credentials: table({ email: 'HASH' }),
      Key: { Type: 'AWS::KMS::Key', Properties: {} },
      Metadata: { Type: 'AWS::CDK::Metadata', Properties: {} },
      ...changes,
    },
    Outputs: {
      AuthUrl: { Value: { 'Fn::GetAtt': ['AuthApi', 'ApiEndpoint'] } },
      BaseUrl: { Value: { 'Fn::GetAtt': ['BaseApi', 'ApiEndpoint'] } },
      ClientsTable: { Value: { Ref: 'Clients' } },
      UsersTable: { Value: { Ref: 'Users' } },
      CredentialsTable: { Value: { Ref: 'Credentials' } },
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
    Outputs: { EventsQueueUrl: { Value: { Ref: 'Events' } }, DeadLetterQueueUrl: { Value: { Ref: 'Events' } } },
  };
  const stack = (templateFile: string, dependencies: string[]) => ({
    type: 'aws:cloudformation:stack',
    properties: { templateFile },
    dependencies,
  });
  const files: Record<string, unknown> = {
    'manifest.json': {
      artifacts: {
        'App-local-Auth': stack('auth.json', ['App-local-Data', 'Auth.assets']),
        'App-local-Data': stack('data.json', []),
        'Auth.assets': { type: 'cdk:asset-manifest', properties: { file: 'assets.json' } },
        Tree: { type: 'cdk:tree', properties: { file: 'tree.json' } },
      },
    },
    'assets.json': {
      files: {
        token: {
          source: { path: 'asset.token', packaging: 'zip' },
          destinations: { here: { objectKey: 'token.zip' } },
        },
      },
    },
    'data.json': data,
    'auth.json': auth,
  };
  const texts = Object.entries(files).map(([name, content]) => [name, JSON.stringify(content)]);
  return { ...Object.fromEntries(texts), 'asset.token/index.mjs': code };
};
