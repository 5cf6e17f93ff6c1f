import { StartError } from '../errors.ts';
import type { Resource } from './assembly.ts';

/** The account id of all resources. */
export const account = '000000000000';

/** The region of all resources. */
export const region = 'us-east-1';

/** Returns a name that consists of the stack and the logical id. Names are stable, so a run can read the data of earlier runs. */
export function physicalName(stack: string, logicalId: string): string {
  return `${stack}-${logicalId}`;
}

export function tableArn(name: string): string {
  return arn('dynamodb', `table/${name}`);
}

export function queueArn(name: string): string {
  return arn('sqs', name);
}

export function keyArn(id: string): string {
  return arn('kms', `key/${id}`);
}

/** Returns the function name in the URI of an integration, or in the ARN of a function, a version or an alias. */
export function functionNameIn(text: string): string | undefined {
  return /:function:([A-Za-z0-9_-]+)/.exec(text)?.[1];
}

export interface Addresses {
  /** Returns the URL of the queue with that name. */
  queueUrl(name: string): string;
  /** Returns the endpoint `http://127.0.0.1:port` of the API with that id. */
  apiEndpoint(apiId: string): string;
}

/** A query for an attribute of a resource. */
export interface AttributeQuery {
  readonly name: string;
  readonly resource: Resource;
  /** `Ref`, or the attribute name in `Fn::GetAtt`. */
  readonly attribute: string;
  /** Resolves a property of the resource. */
  readonly resolve: (node: unknown) => unknown;
}

/** Returns the value of an attribute. @throws {StartError} if the local cloud does not support it */
export function attributeOf(query: AttributeQuery, addresses: Addresses): string {
  const { name, resource, attribute } = query;
  const read = attributes[`${resource.Type}.${attribute}`];
  if (read) return read(query, addresses);
  if (attribute === 'Ref') return name;
  throw new StartError(`${name}: the local cloud has no attribute "${attribute}" for ${resource.Type}.`);
}

function functionArn(name: string): string {
  return arn('lambda', `function:${name}`);
}

function arn(service: string, resource: string): string {
  return `arn:aws:${service}:${region}:${account}:${resource}`;
}

/** Functions that return the attributes of each type. By default, `Ref` returns the name. */
const attributes: Readonly<Record<string, (query: AttributeQuery, addresses: Addresses) => string>> = {
  'AWS::ApiGatewayV2::Api.ApiEndpoint': ({ name }, { apiEndpoint }) => apiEndpoint(name),
  'AWS::DynamoDB::GlobalTable.Arn': ({ name }) => tableArn(name),
  'AWS::IAM::ManagedPolicy.Ref': ({ name }) => `arn:aws:iam::${account}:policy/${name}`,
  'AWS::IAM::Role.Arn': ({ name }) => `arn:aws:iam::${account}:role/${name}`,
  'AWS::KMS::Key.Arn': ({ name }) => keyArn(name),
  'AWS::Lambda::Alias.Ref': query => `${functionOfVersion(query)}:${query.resource.Properties?.Name}`,
  'AWS::Lambda::Function.Arn': ({ name }) => functionArn(name),
  'AWS::Lambda::Version.Ref': query => `${functionOfVersion(query)}:1`,
  'AWS::Logs::LogGroup.Arn': ({ name }) => arn('logs', `log-group:${name}:*`),
  'AWS::SNS::Topic.Ref': ({ name }) => arn('sns', name),
  'AWS::SQS::Queue.Arn': ({ name }) => queueArn(name),
  'AWS::SQS::Queue.Ref': ({ name }, { queueUrl }) => queueUrl(name),
};

function functionOfVersion({ resource, resolve }: AttributeQuery): string {
  return functionArn(String(resolve(resource.Properties?.FunctionName)));
}
