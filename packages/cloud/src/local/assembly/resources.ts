import type * as z from 'zod';
import { StartError } from '../errors.ts';
import type { Assembly } from './assembly.ts';
import { type Addresses, physicalName } from './identities.ts';
import { makeResolver } from './intrinsics.ts';

/** A resource that the local cloud emulates. Its properties are resolved. */
export interface LiveResource {
  readonly stack: string;
  readonly logicalId: string;
  readonly name: string;
  readonly type: LiveType;
  readonly properties: unknown;
}

/** The resources and outputs of all stacks. References are replaced with the names, ARNs and addresses from a run. */
export interface ResolvedTemplate {
  readonly resources: readonly LiveResource[];
  readonly outputs: Readonly<Record<string, string>>;
  /** The directory of each function's bundle, by object key. */
  readonly assets: ReadonlyMap<string, string>;
}

/** Resolves the templates of an assembly. @throws {StartError} if a template has an unsupported part */
export function resolveTemplate({ stacks, assets }: Assembly, addresses: Addresses): ResolvedTemplate {
  const resolve = makeResolver(stacks, addresses);
  const resources = stacks.flatMap(stack =>
    Object.entries(stack.template.Resources).flatMap(([logicalId, { Type: type, Properties = {} }]) => {
      if (inertTypes.has(type)) return [];
      const name = physicalName(stack.name, logicalId);
      if (!isLive(type)) throw new StartError(`The local cloud does not support the resource type ${type} (${name}).`);
      return [{ stack: stack.name, logicalId, name, type, properties: resolve(Properties, stack) }];
    }),
  );
  const outputs = stacks.flatMap(stack =>
    Object.entries(stack.template.Outputs ?? {})
      .filter(([, { Export }]) => Export === undefined) // exports only implement references between stacks
      .map(([name, { Value }]) => [name, String(resolve(Value, stack))]),
  );
  return { resources, outputs: Object.fromEntries(outputs), assets };
}

/** Returns an output that the run needs. @throws {StartError} if it does not exist */
export function requiredOutput(outputs: Readonly<Record<string, unknown>>, name: string): string {
  const value = outputs[name];
  if (typeof value === 'string') return value;
  throw new StartError(`The stacks have no output "${name}", which the local run needs.`);
}

export function ofType(resources: readonly LiveResource[], type: LiveType): readonly LiveResource[] {
  return resources.filter(resource => resource.type === type);
}

/**
 * Parses a resource's properties. Properties outside the schema have no effect locally.
 *
 * @throws {StartError} if a property is missing or is not supported
 */
export function readProperties<Schema extends z.ZodType>(schema: Schema, resource: LiveResource): z.output<Schema> {
  const result = schema.safeParse(resource.properties);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new StartError(`${resource.name} (${resource.type}): ${issue?.path.join('.')}: ${issue?.message}`);
}

/** A resource type that the local cloud emulates. */
type LiveType = (typeof liveTypes)[number];

const liveTypes = [
  'AWS::ApiGatewayV2::Api',
  'AWS::ApiGatewayV2::Integration',
  'AWS::ApiGatewayV2::Route',
  'AWS::ApiGatewayV2::Stage',
  'AWS::DynamoDB::GlobalTable',
  'AWS::Events::Rule',
  'AWS::IAM::Policy',
  'AWS::KMS::Key',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Lambda::Function',
  'AWS::SQS::Queue',
  'Custom::Trigger',
] as const;

/**
 * The types that have no effect locally. A type that is in neither list causes an error. The resolver reads the values of SSM
 * parameters from the template.
 */
const inertTypes: ReadonlySet<string> = new Set([
  'AWS::CDK::Metadata',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::CompositeAlarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::CodeDeploy::Application',
  'AWS::CodeDeploy::DeploymentGroup',
  'AWS::IAM::ManagedPolicy',
  'AWS::IAM::Role',
  'AWS::KMS::Alias',
  'AWS::Lambda::Alias',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Version',
  'AWS::Logs::LogGroup',
  'AWS::Logs::MetricFilter',
  'AWS::Logs::QueryDefinition',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::SSM::Parameter',
]);

function isLive(type: string): type is LiveType {
  return liveTypes.some(liveType => liveType === type);
}
