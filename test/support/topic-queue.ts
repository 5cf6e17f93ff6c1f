import { type SNSClient, SubscribeCommand, UnsubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { unique } from '../../tools/support/accounts.ts';

/** Subscribes a new queue to a topic, with raw message delivery and an optional filter policy. */
export async function subscribeQueue(sqs: SQSClient, sns: SNSClient, TopicArn: string, filterPolicy?: object) {
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [maySend(TopicArn)] });
  const queue = { QueueName: `topic-${unique()}`, Attributes: { Policy } };
  const { QueueUrl } = await sqs.send(new CreateQueueCommand(queue));
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }));
  const filter = filterPolicy && { FilterPolicy: JSON.stringify(filterPolicy) };
  const target = { Protocol: 'sqs', Endpoint: Attributes?.QueueArn, ReturnSubscriptionArn: true };
  const subscription = { TopicArn, ...target, Attributes: { RawMessageDelivery: 'true', ...filter } };
  const { SubscriptionArn } = await sns.send(new SubscribeCommand(subscription));
  return { receive, stop };

  /** Receives and deletes up to ten messages. */
  async function receive() {
    const all = { MaxNumberOfMessages: 10, MessageAttributeNames: ['All'], WaitTimeSeconds: 1 };
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, ...all }));
    for (const { ReceiptHandle } of Messages) await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    return Messages;
  }

  async function stop(): Promise<void> {
    await sns.send(new UnsubscribeCommand({ SubscriptionArn }));
    await sqs.send(new DeleteQueueCommand({ QueueUrl }));
  }
}

function maySend(topicArn: string): object {
  return {
    Effect: 'Allow',
    Principal: { Service: 'sns.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: '*', // the queue of the policy
    Condition: { ArnEquals: { 'aws:SourceArn': topicArn } },
  };
}
