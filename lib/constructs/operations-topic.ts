import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

/**
 * Where the operations team hears of alarms and of suspended webhooks: subscribe an address or a chat to it. A policy of
 * its own replaces the default one, so alarms are let in again.
 */
export function operationsTopic(scope: Construct, id: string): sns.Topic {
  const topic = new sns.Topic(scope, id, { displayName: 'Emissor operations', enforceSSL: true });
  topic.addToResourcePolicy(
    new iam.PolicyStatement({
      principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  return topic;
}
