import { CfnOutput } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';

export interface RejectedEventsTopicProps {
  /** The stage's list of other accounts that may subscribe. */
  readonly configuration: Pick<StageConfiguration, 'noticeAccounts'>;
}

/**
 * The topic that notifies publishers of rejected events. Services of this account subscribe with the managed policy, and other accounts
 * if the stage names them. Only queues and functions can subscribe, because their own policies control who sends to them. So notices
 * cannot be sent to an arbitrary address on the Internet.
 */
export class RejectedEventsTopic extends sns.Topic {
  constructor(scope: Construct, id: string, { configuration: { noticeAccounts } }: RejectedEventsTopicProps) {
    super(scope, id, { displayName: 'Emissor rejected events', enforceSSL: true });
    if (noticeAccounts.length > 0) {
      const principals = noticeAccounts.map(account => new iam.AccountPrincipal(account));
      this.addToResourcePolicy(new iam.PolicyStatement({ ...this.#subscription(), principals }));
    }
    // A changed description would replace the policy, and IAM does not delete a policy that is attached to a subscriber's role.
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
