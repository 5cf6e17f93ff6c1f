import { SubscribeCommand, UnsubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { unique } from '../../tools/support/accounts.ts';
import { snsClientOf, sqsClientOf } from '../../tools/support/engines.ts';
import { output, outputs } from '../support/e2e-target.ts';

/** A notice of the topic of refused events, as a subscriber gets it. */
export interface ReceivedNotice {
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly attributes: Readonly<Record<string, string | undefined>>;
}

export type NoticeQueue = Awaited<ReturnType<typeof subscribeToRefusals>>;

/** Subscribes a queue of its own to the topic of refused events, with raw message delivery and, if one is given, with a filter policy. */
export async function subscribeToRefusals(filterPolicy?: object) {
  const [queues, topics] = [sqsClientOf(outputs), snsClientOf(outputs)];
  const TopicArn = output('RefusedEventsTopicArn');
  const attributes = { Policy: policyFor(TopicArn) };
  const { QueueUrl } = await queues.send(
    new CreateQueueCommand({ QueueName: `notices-${unique()}`, Attributes: attributes }),
  );
  const { Attributes } = await queues.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }));
  const target = { Protocol: 'sqs', Endpoint: Attributes?.QueueArn, ReturnSubscriptionArn: true };
  const filter = filterPolicy && { FilterPolicy: JSON.stringify(filterPolicy) };
  const subscription = { TopicArn, ...target, Attributes: { RawMessageDelivery: 'true', ...filter } };
  const { SubscriptionArn } = await topics.send(new SubscribeCommand(subscription));
  const notices: ReceivedNotice[] = [];
  return { received, stop };

  /** Returns all notices that came so far. */
  async function received(): Promise<readonly ReceivedNotice[]> {
    const all = { MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] };
    const { Messages = [] } = await queues.send(new ReceiveMessageCommand({ QueueUrl, ...all }));
    for (const { Body: text = '', MessageAttributes = {}, ReceiptHandle } of Messages) {
      const attributes = Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue]);
      notices.push({ text, body: JSON.parse(text), attributes: Object.fromEntries(attributes) });
      await queues.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
    return notices;
  }

  async function stop(): Promise<void> {
    await topics.send(new UnsubscribeCommand({ SubscriptionArn }));
    await queues.send(new DeleteQueueCommand({ QueueUrl }));
  }
}

/** Returns the policy of a queue to which only the topic may send. */
function policyFor(topicArn: string): string {
  const statement = {
    Effect: 'Allow',
    Principal: { Service: 'sns.amazonaws.com' },
    Action: 'sqs:SendMessage',
    Resource: '*', // in a queue's policy: this queue
    Condition: { ArnEquals: { 'aws:SourceArn': topicArn } },
  };
  return JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
}
