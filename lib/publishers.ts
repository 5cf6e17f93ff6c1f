import { CfnOutput } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { StageConfiguration } from './config.ts';
import type { WorkQueue } from './constructs/work-queue.ts';
import { ConfigurationError } from './stage-files.ts';

/** The events queue, and the principals that may send to it. */
export interface PublishersProps {
  readonly configuration: StageConfiguration;
  readonly queue: WorkQueue;
  /** The topic of notices about rejected events. */
  readonly rejectedEvents: ITopic;
}

/**
 * Allows publishers to send to the events queue. Services of this account use a managed policy. The queue's own policy allows the
 * roles of other accounts, SNS topics and EventBridge rules that the stage names.
 *
 * @throws {ConfigurationError} if the stage names more publishers than a queue policy can hold, or the topic of rejected events.
 */
export function addPublishers(scope: Construct, { configuration, queue, rejectedEvents }: PublishersProps): void {
  refuseLoop(configuration, rejectedEvents);
  // A changed description would replace the policy, and IAM does not delete a policy that is attached to a publisher's role.
  const publisher = new iam.ManagedPolicy(scope, 'Publisher', {
    description: 'Allows an internal service to publish events to Emissor, and nothing else',
  });
  queue.grant(publisher, 'sqs:SendMessage');

  const sources = sourcesOf(configuration);
  requireRoom(configuration, sources);
  for (const source of sources) queue.addToResourcePolicy(allowSending(source, queue.queueArn));

  new CfnOutput(scope, 'EventsQueueUrl', { value: queue.queueUrl });
  new CfnOutput(scope, 'EventsQueueArn', { value: queue.queueArn });
  new CfnOutput(scope, 'PublisherPolicyArn', { value: publisher.managedPolicyArn });
}

function allowSending({ principals, conditions }: Source, queueArn: string): iam.PolicyStatement {
  return new iam.PolicyStatement({ principals, actions: ['sqs:SendMessage'], resources: [queueArn], conditions });
}

/** A sender without the managed policy, and the conditions under which it sends. */
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

/** Returns the publishers whose ARN names a service. */
function publishersOf({ publishers }: StageConfiguration, service: 'iam' | 'sns' | 'events'): readonly string[] {
  return publishers.filter(arn => arn.split(':')[2] === service);
}

/** Services send as service principals. `aws:SourceArn` identifies the topic or rule. */
function serviceSource(service: 'sns' | 'events', arns: readonly string[]): readonly Source[] {
  if (arns.length === 0) return [];
  const conditions = { ArnEquals: { 'aws:SourceArn': arns } };
  return [{ principals: [new iam.ServicePrincipal(`${service}.amazonaws.com`)], conditions }];
}

/** A notice is not an event, so it would be rejected and cause another notice. CloudFormation chooses the end of a topic's name. */
function refuseLoop({ stage, publishers }: StageConfiguration, { topicArn, stack }: ITopic): void {
  const { Ref: logicalId } = stack.resolve(topicArn);
  const beginning = `:${stack.stackName}-${logicalId}-`;
  if (!publishers.some(arn => arn.includes(beginning))) return;
  throw new ConfigurationError(
    `Stage ${stage}: publishers must not name the topic of rejected events: each notice would be rejected and cause another one.`,
  );
}

/** Checks the size here, because AWS refuses a larger policy only during the deployment, and the stack rolls back. */
function requireRoom(configuration: StageConfiguration, sources: readonly Source[]): void {
  const { stage, publishers } = configuration;
  const roles = publishersOf(configuration, 'iam').length;
  const statements = [...sources.map(source => allowSending(source, maxQueueArn)), refusalOfPlainHttp()];
  const document = new iam.PolicyDocument({ statements }).toJSON();
  const size: Readonly<Record<keyof typeof queuePolicyQuotas, number>> = {
    bytes: Buffer.byteLength(JSON.stringify(document)),
    principals: roles + statements.length - Math.min(roles, 1),
    conditions: sources.filter(({ conditions }) => Object.keys(conditions).length > 0).length + 1,
  };
  const problems = (Object.keys(queuePolicyQuotas) as (keyof typeof queuePolicyQuotas)[])
    .filter(what => size[what] > queuePolicyQuotas[what])
    .map(what => `${size[what]} ${what}, and AWS allows at most ${queuePolicyQuotas[what]}`);
  if (problems.length === 0) return;
  throw new ConfigurationError(
    `Stage ${stage}: the policy of the events queue has ${problems.join('; ')}: shorten publishers (${publishers.length}). A role of the stage's own account needs no entry.`,
  );
}

/** Returns the statement that `enforceSSL` adds, which counts towards the size. */
function refusalOfPlainHttp(): iam.PolicyStatement {
  return new iam.PolicyStatement({
    effect: iam.Effect.DENY,
    principals: [new iam.AnyPrincipal()],
    actions: ['sqs:*'],
    resources: [maxQueueArn],
    conditions: { Bool: { 'aws:SecureTransport': 'false' } },
  });
}

/** CloudFormation's names of queues have at most 80 characters. */
const maxQueueArn = `arn:aws:sqs:ap-southeast-2:${'0'.repeat(12)}:${'x'.repeat(80)}`;

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-policies.html. A list of values is one condition. */
const queuePolicyQuotas = { bytes: 8_192, principals: 50, conditions: 10 };
