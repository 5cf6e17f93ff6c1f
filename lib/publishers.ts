import { CfnOutput, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import type { StageConfiguration } from './config.ts';
import type { WorkQueue } from './constructs/work-queue.ts';

/** The events queue, and who may send to it. */
export interface PublishersProps {
  readonly configuration: StageConfiguration;
  readonly queue: WorkQueue;
  /** The account's own key that encrypts the queue, if one does. */
  readonly dataKey: kms.Key | undefined;
}

/**
 * Lets publishers send to the events queue. Services of this account have a managed policy. Roles of other accounts, SNS topics and
 * EventBridge rules are those that the stage names: the queue's own policy allows them, and so does the policy of its key.
 */
export function addPublishers(scope: Construct, { configuration, queue, dataKey }: PublishersProps): void {
  const publisher = new iam.ManagedPolicy(scope, 'Publisher', {
    description: 'Allows an internal service to publish events to Emissor, and nothing else',
  });
  queue.grant(publisher, 'sqs:SendMessage');

  for (const source of sourcesOf(scope, configuration)) {
    const { principals, conditions } = source;
    queue.addToResourcePolicy(
      new iam.PolicyStatement({ principals, actions: ['sqs:SendMessage'], resources: [queue.queueArn], conditions }),
    );
    dataKey?.addToResourcePolicy(
      new iam.PolicyStatement({
        principals,
        actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
        resources: ['*'], // in a key's policy: this key
        conditions: source.keyConditions,
      }),
    );
  }

  new CfnOutput(scope, 'EventsQueueUrl', { value: queue.queueUrl });
  new CfnOutput(scope, 'EventsQueueArn', { value: queue.queueArn });
  new CfnOutput(scope, 'PublisherPolicyArn', { value: publisher.managedPolicyArn });
  // A role of another account names it in its own policy.
  if (dataKey) new CfnOutput(scope, 'QueueKeyArn', { value: dataKey.keyArn });
}

/** A sender without the managed policy, and the conditions under which it sends. */
interface Source {
  readonly principals: iam.IPrincipal[];
  readonly conditions: iam.Conditions;
  readonly keyConditions: iam.Conditions;
}

/** A service sends in the name of its own; `aws:SourceArn` says for which topic or rule. */
function sourcesOf(scope: Construct, configuration: StageConfiguration): readonly Source[] {
  const { publisherRoles, publisherTopics, publisherRules } = configuration;
  const bySqs = { StringEquals: { 'kms:ViaService': `sqs.${Stack.of(scope).region}.amazonaws.com` } };
  const roles = publisherRoles.map(arn => new iam.ArnPrincipal(arn));
  return [
    ...(roles.length > 0 ? [{ principals: roles, conditions: {}, keyConditions: bySqs }] : []),
    ...serviceSource('sns', publisherTopics),
    ...serviceSource('events', publisherRules),
  ];
}

function serviceSource(service: 'sns' | 'events', arns: readonly string[]): readonly Source[] {
  if (arns.length === 0) return [];
  const conditions = { ArnEquals: { 'aws:SourceArn': arns } };
  return [
    { principals: [new iam.ServicePrincipal(`${service}.amazonaws.com`)], conditions, keyConditions: conditions },
  ];
}
