import { createHash } from 'node:crypto';
import { StartError } from '../errors.ts';
import type { AttributeQuery, Environment } from './intrinsics.ts';

/** The account of all resources. */
export const account = '000000000000';

/** The region of all resources. */
export const region = 'us-east-1';

/** Returns a name made of stack and logical id, the same on every run, so that kept data is found again. */
export function physicalName(stack: string, logicalId: string, longest = 255): string {
  const name = `${stack}-${logicalId}`;
  return name.length <= longest ? name : `${name.slice(0, longest - 9)}-${digest(name).slice(0, 8)}`;
}

/** Returns the ARN of a table. */
export function tableArn(name: string): string {
  return arn('dynamodb', `table/${name}`);
}

/** Returns the ARN of a queue. */
export function queueArn(name: string): string {
  return arn('sqs', name);
}

/** Returns the ARN of a key. */
export function keyArn(id: string): string {
  return arn('kms', `key/${id}`);
}

/** Returns the ARN of a function. */
export function functionArn(name: string): string {
  return arn('lambda', `function:${name}`);
}

/** Returns the name in a function's ARN, in that of a version or an alias, or in an integration's URI around one. */
export function functionNameIn(text: string): string | undefined {
  return /:function:([A-Za-z0-9_-]+)/.exec(text)?.[1];
}

export interface Addresses {
  /** URL of the queue with that name. */
  queueUrl(name: string): string;
  /** `http://127.0.0.1:port` of an API, by its id. */
  apiEndpoint(apiId: string): string;
}

/**
 * The environment that templates are resolved in. Resources without attributes of their own here (roles, alarms, …) have a
 * name and an ARN that nothing uses.
 */
export function makeEnvironment(addresses: Addresses): Environment {
  const known = makeAttributes(addresses);
  return {
    region,
    account,
    attributeOf: query => {
      const attributes = known[query.resource.Type];
      const attribute = attributes?.[query.attribute];
      if (attribute) return attribute(query);
      const name = physicalName(query.stack, query.logicalId);
      if (query.attribute === 'Ref') return name;
      if (!attributes && /Arn$|^Arn/.test(query.attribute)) return arn('local', name);
      throw new StartError(
        `${query.stack}/${query.logicalId}: the local cloud has no attribute "${query.attribute}" for ${query.resource.Type}.`,
      );
    },
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function arn(service: string, resource: string): string {
  return `arn:aws:${service}:${region}:${account}:${resource}`;
}

/** An API's id has the form of API Gateway's: ten letters and digits. */
function apiId(stack: string, logicalId: string): string {
  return digest(physicalName(stack, logicalId)).slice(0, 10);
}

function makeAttributes({ queueUrl, apiEndpoint }: Addresses): Record<string, Attributes> {
  const tableName = (query: AttributeQuery) => givenName(query, 'TableName', 255);
  const queueName = (query: AttributeQuery) => givenName(query, 'QueueName', 80);
  const functionName = (query: AttributeQuery) => givenName(query, 'FunctionName', 64);
  const topicName = (query: AttributeQuery) => givenName(query, 'TopicName', 256);
  const topicArn = (query: AttributeQuery) => arn('sns', topicName(query));
  const keyOf = ({ stack, logicalId }: AttributeQuery) => keyId(stack, logicalId);
  const apiOf = ({ stack, logicalId }: AttributeQuery) => apiId(stack, logicalId);
  const ruleName = (query: AttributeQuery) => givenName(query, 'Name', 64);
  const table: Attributes = { Ref: tableName, Arn: query => tableArn(tableName(query)) };
  return {
    'AWS::DynamoDB::GlobalTable': table,
    'AWS::DynamoDB::Table': table,
    'AWS::SQS::Queue': {
      Ref: query => queueUrl(queueName(query)),
      QueueName: queueName,
      Arn: query => queueArn(queueName(query)),
    },
    'AWS::SNS::Topic': { Ref: topicArn, TopicArn: topicArn, TopicName: topicName },
    'AWS::KMS::Key': { Ref: keyOf, KeyId: keyOf, Arn: query => keyArn(keyOf(query)) },
    'AWS::Lambda::Function': { Ref: functionName, Arn: query => functionArn(functionName(query)) },
    'AWS::Lambda::Alias': {
      Ref: ({ resource, resolve }) =>
        `${functionArn(String(resolve(resource.Properties.FunctionName)))}:${resource.Properties.Name}`,
    },
    'AWS::Lambda::Version': {
      Ref: ({ resource, resolve }) => `${functionArn(String(resolve(resource.Properties.FunctionName)))}:1`,
      Version: () => '1',
    },
    'AWS::ApiGatewayV2::Api': { Ref: apiOf, ApiId: apiOf, ApiEndpoint: query => apiEndpoint(apiOf(query)) },
    'AWS::ApiGatewayV2::Stage': { Ref: ({ resource }) => String(resource.Properties.StageName) },
    'AWS::Events::Rule': { Ref: ruleName, Arn: query => arn('events', `rule/${ruleName(query)}`) },
    'AWS::IAM::Role': {
      Ref: query => givenName(query, 'RoleName', 64),
      Arn: query => `arn:aws:iam::${account}:role/${givenName(query, 'RoleName', 64)}`,
    },
    'AWS::IAM::ManagedPolicy': {
      Ref: query => `arn:aws:iam::${account}:policy/${givenName(query, 'ManagedPolicyName', 128)}`,
    },
    'AWS::Logs::LogGroup': {
      Ref: query => givenName(query, 'LogGroupName', 512),
      Arn: query => arn('logs', `log-group:${givenName(query, 'LogGroupName', 512)}:*`),
    },
    'Custom::ReleaseEnd': { Release: () => '' },
    'Custom::ReleaseStart': { IsRolledBack: () => 'false' },
  };
}

type Attributes = Record<string, (query: AttributeQuery) => string>;

function givenName({ stack, logicalId, resource }: AttributeQuery, property: string, longest: number): string {
  const given = resource.Properties[property];
  return typeof given === 'string' ? given : physicalName(stack, logicalId, longest);
}

/** A key's id has the form of a UUID. */
function keyId(stack: string, logicalId: string): string {
  return digest(physicalName(stack, logicalId)).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
