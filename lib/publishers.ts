import { CfnOutput } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { StageConfiguration } from './config.ts';
import type { WorkQueue } from './constructs/work-queue.ts';
import { ConfigurationError } from './stage-files.ts';

export interface PublishersProps {
  readonly configuration: StageConfiguration;
  readonly queue: WorkQueue;
  /** The topic for notices about rejected events. */
  readonly rejectedEvents: ITopic;
}

/**
 * Allows publishers to send to the events queue. Services in this account use a managed policy. The queue's policy allows the other
 * publishers of the stage: roles in other accounts, SNS topics and EventBridge rules.
 *
 * @throws {ConfigurationError} if the publishers exceed the quotas for a queue policy, or include the topic of rejected events.
 */
export function addPublishers(scope: Construct, { configuration, queue, rejectedEvents }: PublishersProps): void {
  rejectLoop(configuration, rejectedEvents);
  // Do not change the description. CloudFormation would replace the policy, but IAM cannot delete a policy that is attached to a role.
  const publisher = new iam.ManagedPolicy(scope, 'Publisher', {
    description: 'Allows an internal service to publish events to Emissor, and nothing else',
  });
  queue.grant(publisher, 'sqs:SendMessage');

  const sources = sourcesOf(configuration);
  checkPolicySize(configuration, sources);
  for (const source of sources) queue.addToResourcePolicy(allowSending(source, queue.queueArn));

  new CfnOutput(scope, 'EventsQueueUrl', { value: queue.queueUrl });
  new CfnOutput(scope, 'EventsQueueArn', { value: queue.queueArn });
  new CfnOutput(scope, 'PublisherPolicyArn', { value: publisher.managedPolicyArn });
}

function allowSending({ principals, conditions }: Source, queueArn: string): iam.PolicyStatement {
  return new iam.PolicyStatement({ principals, actions: ['sqs:SendMessage'], resources: [queueArn], conditions });
}

/** Principals without the managed policy, and the conditions under which they may send. */
interface Source {
  readonly principals: iam.IPrincipal[];
  readonly conditions: iam.Conditions;
}

function sourcesOf(configuration: StageConfiguration): readonly Source[] {
  const principals = publishersOf(configuration, 'iam').map(arn => new iam.ArnPrincipal(arn));
  return [
    ...(principals.length > 0 ? [{ principals, conditions: {} }] : []),
    ...serviceSource('sns', publishersOf(configuration, 'sns')),
    ...serviceSource('events', publishersOf(configuration, 'events')),
  ];
}

/** Returns the publishers that are resources of a service. */
function publishersOf({ publishers }: StageConfiguration, service: 'iam' | 'sns' | 'events'): readonly string[] {
  return publishers.filter(arn => arn.split(':')[2] === service);
}

/** Returns the source for an AWS service, which sends as a service principal. `aws:SourceArn` identifies the topic or rule. */
function serviceSource(service: 'sns' | 'events', arns: readonly string[]): readonly Source[] {
  if (arns.length === 0) return [];
  const conditions = { ArnEquals: { 'aws:SourceArn': arns } };
  return [{ principals: [new iam.ServicePrincipal(`${service}.amazonaws.com`)], conditions }];
}

/** Rejects the topic of rejected events as a publisher. Compares only the start of its name, because CloudFormation adds a suffix. */
function rejectLoop({ stage, publishers }: StageConfiguration, { topicArn, stack }: ITopic): void {
  const { Ref: logicalId } = stack.resolve(topicArn);
  const prefix = `:${stack.stackName}-${logicalId}-`;
  if (!publishers.some(arn => arn.includes(prefix))) return;
  throw new ConfigurationError(
    `Stage ${stage}: publishers must not include the topic of rejected events. Emissor would reject each notice and send another one. Remove the topic.`,
  );
}

/** Checks the queue policy against AWS quotas. Otherwise, AWS would reject the policy during the deployment, which would roll back. */
function checkPolicySize(configuration: StageConfiguration, sources: readonly Source[]): void {
  const { stage, publishers } = configuration;
  const roles = publishersOf(configuration, 'iam').length;
  const statements = [...sources.map(source => allowSending(source, maxQueueArn)), denyPlainHttp()];
  const document = new iam.PolicyDocument({ statements }).toJSON();
  const size: Readonly<Record<keyof typeof queuePolicyQuotas, number>> = {
    bytes: Buffer.byteLength(JSON.stringify(document)),
    principals: roles + statements.length - Math.min(roles, 1),
    conditions: sources.filter(({ conditions }) => Object.keys(conditions).length > 0).length + 1,
  };
  const problems = (Object.keys(queuePolicyQuotas) as (keyof typeof queuePolicyQuotas)[])
    .filter(unit => size[unit] > queuePolicyQuotas[unit])
    .map(unit => `${size[unit]} ${unit} (AWS allows at most ${queuePolicyQuotas[unit]})`);
  if (problems.length === 0) return;
  throw new ConfigurationError(
    `Stage ${stage}: the policy of the events queue has ${problems.join(' and ')}. Remove some of the ${publishers.length} publishers. Roles in the stage's own account need no entry.`,
  );
}

/** Returns the statement that `enforceSSL` adds to the policy. */
function denyPlainHttp(): iam.PolicyStatement {
  return new iam.PolicyStatement({
    effect: iam.Effect.DENY,
    principals: [new iam.AnyPrincipal()],
    actions: ['sqs:*'],
    resources: [maxQueueArn],
    conditions: { Bool: { 'aws:SecureTransport': 'false' } },
  });
}

/** A queue ARN of the maximum length. CloudFormation generates names of at most 80 characters. */
const maxQueueArn = `arn:aws:sqs:ap-southeast-2:${'0'.repeat(12)}:${'x'.repeat(80)}`;

/** A list of values counts as one condition (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html). */
const queuePolicyQuotas = { bytes: 8_192, principals: 50, conditions: 10 };
