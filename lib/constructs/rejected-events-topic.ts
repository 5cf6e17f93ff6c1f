import { CfnOutput } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { StageConfiguration } from '../config.ts';

export interface RejectedEventsTopicProps {
  /** Other accounts that may subscribe, as the stage names them. */
  readonly configuration: Pick<StageConfiguration, 'noticeAccounts'>;
}

/**
 * The topic that tells publishers of refused events. Services of this account subscribe by the managed policy that comes with it,
 * other accounts where the stage names them. Both may only subscribe queues and functions, which say themselves who may send to
 * them: nobody can have the notices sent to an address of the Internet.
 */
export class RejectedEventsTopic extends sns.Topic {
  constructor(scope: Construct, id: string, { configuration: { noticeAccounts } }: RejectedEventsTopicProps) {
    super(scope, id, { displayName: 'Emissor rejected events', enforceSSL: true });
    if (noticeAccounts.length > 0) {
      const principals = noticeAccounts.map(account => new iam.AccountPrincipal(account));
      this.addToResourcePolicy(new iam.PolicyStatement({ ...this.#subscription(), principals }));
    }
    // Another description would be another policy, and IAM deletes none that a subscriber's role has.
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
