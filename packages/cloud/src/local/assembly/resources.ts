import type * as z from 'zod';
import { StartError } from '../errors.ts';
import type { Assembly } from './assembly.ts';
import type { Resolve } from './intrinsics.ts';

/** Resource types that need nothing to run locally, with the reason. A type in neither list stops the start. */
export const inertTypes: Readonly<Record<string, string>> = {
  'AWS::CDK::Metadata': 'tells AWS which constructs were used',
  'AWS::CloudWatch::Alarm': 'nothing collects metrics locally',
  'AWS::CloudWatch::CompositeAlarm': 'nothing collects metrics locally',
  'AWS::CloudWatch::Dashboard': 'nothing collects metrics locally',
  'AWS::CodeDeploy::Application': 'a release takes all traffic at once locally',
  'AWS::CodeDeploy::DeploymentGroup': 'a release takes all traffic at once locally',
  'AWS::IAM::ManagedPolicy': 'nobody assumes it locally',
  'AWS::IAM::Role': 'its policies are enforced under its name',
  'AWS::KMS::Alias': 'keys are known by their ARN locally',
  'AWS::Lambda::Alias': 'there is one version of each function locally, and every alias leads to it',
  'AWS::Lambda::EventInvokeConfig': 'asynchronous invocations are not repeated locally',
  'AWS::Lambda::Permission': 'only what the template connects invokes a function locally',
  'AWS::Logs::LogGroup': 'logs go to the terminal',
  'AWS::Logs::MetricFilter': 'nothing collects metrics locally',
  'AWS::Logs::QueryDefinition': 'queries are saved for people at a console',
  'AWS::SNS::TopicPolicy': 'only the policies of functions are enforced locally',
  'AWS::SSM::Parameter': 'its value is known from the template',
  'AWS::SQS::QueuePolicy': 'only the policies of functions are enforced locally',
  'Custom::ReleaseEnd': 'there is one version of each function locally',
  'Custom::ReleaseStart': 'the same',
};

/** A type that the local cloud runs. */
export type LiveType = (typeof liveTypes)[number];

/** A resource of such a type, its properties resolved. */
export interface LiveResource {
  readonly stack: string;
  readonly logicalId: string;
  readonly type: LiveType;
  readonly properties: Record<string, unknown>;
}

/**
 * All resources of an assembly that the local cloud runs, stack by stack in the order of their dependencies.
 *
 * @throws {StartError} for a resource of a type in neither list, naming it.
 */
export function liveResources(assembly: Assembly, resolve: Resolve): readonly LiveResource[] {
  return assembly.stacks.flatMap(stack =>
    Object.entries(stack.template.Resources).flatMap(([logicalId, { Type: type, Properties, Condition }]) => {
      if (type in inertTypes) return [];
      if (!isLive(type)) {
        throw new StartError(`The local cloud does not know the resource type ${type} (${stack.name}/${logicalId}).`);
      }
      if (Condition !== undefined) {
        throw new StartError(
          `The local cloud does not support conditions, but ${stack.name}/${logicalId} depends on one.`,
        );
      }
      const properties = resolve(Properties, stack) as Record<string, unknown>;
      return [{ stack: stack.name, logicalId, type, properties }];
    }),
  );
}

/** Returns the resources of one type. */
export function ofType(resources: readonly LiveResource[], type: LiveType): readonly LiveResource[] {
  return resources.filter(resource => resource.type === type);
}

/**
 * Reads a resource's properties. Properties that the schema does not name have no effect locally.
 *
 * @throws {StartError} that names the resource, the property and the reason.
 */
export function readProperties<Schema extends z.ZodType>(schema: Schema, resource: LiveResource): z.output<Schema> {
  const result = schema.safeParse(resource.properties);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new StartError(
    `${resource.stack}/${resource.logicalId} (${resource.type}): ${issue?.path.join('.')}: ${issue?.message}`,
  );
}

/** Resource types that the local cloud runs. */
const liveTypes = [
  'AWS::ApiGatewayV2::Api',
  'AWS::ApiGatewayV2::Integration',
  'AWS::ApiGatewayV2::Route',
  'AWS::ApiGatewayV2::Stage',
  'AWS::DynamoDB::GlobalTable',
  'AWS::DynamoDB::Table',
  'AWS::Events::Rule',
  'AWS::IAM::Policy',
  'AWS::KMS::Key',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Lambda::Function',
  'AWS::Lambda::Version',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SQS::Queue',
  'Custom::RouteThrottle',
  'Custom::Trigger',
] as const;

function isLive(type: string): type is LiveType {
  return liveTypes.some(known => known === type);
}
