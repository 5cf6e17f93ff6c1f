import { CfnOutput } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';

export interface RejectedEventsTopicProps {
  /** The stage's configuration, with the other accounts that may subscribe. */
  readonly configuration: Pick<StageConfiguration, 'noticeAccounts'>;
}

/**
 * The topic that notifies publishers of rejected events. Services in this account subscribe with the managed policy. Other accounts can
 * subscribe if the stage lists them. Only queues and functions can subscribe, because their policies control who sends to them. SNS
 * therefore cannot send notices to arbitrary addresses on the Internet.
 */
export class RejectedEventsTopic extends sns.Topic {
  constructor(scope: Construct, id: string, { configuration: { noticeAccounts } }: RejectedEventsTopicProps) {
    super(scope, id, { displayName: 'Emissor rejected events', enforceSSL: true });
    if (noticeAccounts.length > 0) {
      const principals = noticeAccounts.map(account => new iam.AccountPrincipal(account));
      this.addToResourcePolicy(new iam.PolicyStatement({ ...this.#subscription(), principals }));
    }
    // Do not change the description. CloudFormation would replace the policy, but IAM cannot delete a policy that is attached to a role.
    const subscriber = new iam.ManagedPolicy(scope, `${id}Subscriber`, {
      description: 'Allows an internal service to subscribe to the events that Emissor refused, and nothing else',
      statements: [new iam.PolicyStatement(this.#subscription())],
    });
    new CfnOutput(scope, `${id}TopicArn`, { value: this.topicArn });
    new CfnOutput(scope, `${id}SubscriberPolicyArn`, { value: subscriber.managedPolicyArn });
  }

  #subscription(): iam.PolicyStatementProps {
    return {
      actions: ['sns:Subscribe'],
      resources: [this.topicArn],
      conditions: { StringEquals: { 'sns:Protocol': ['sqs', 'lambda'] } },
    };
  }
}
