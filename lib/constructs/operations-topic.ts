import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

/**
 * The topic that tells the operations team of alarms and of suspended webhooks: subscribe an e-mail address or a chat to
 * it. Its own policy replaces the default one of SNS, so it must let CloudWatch alarms publish again.
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
