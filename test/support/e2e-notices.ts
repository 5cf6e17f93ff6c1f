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
import { output, outputs } from './e2e-target.ts';

/** A notice of the topic of refused events, as a subscriber gets it. */
export interface ReceivedNotice {
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Its message attributes by name. */
  readonly attributes: Readonly<Record<string, string | undefined>>;
}

/** A queue that is subscribed to the topic of refused events. */
export interface NoticeQueue {
  /** All notices that came so far. */
  received(): Promise<readonly ReceivedNotice[]>;
  stop(): Promise<void>;
}

/** Subscribes a queue of its own, with raw message delivery and, if one is given, with a filter policy. */
export async function subscribeToRefusals(filterPolicy?: object): Promise<NoticeQueue> {
  const queues = sqsClientOf(outputs);
  const topics = snsClientOf(outputs);
  const TopicArn = output('RefusedEventsTopicArn');
  const { QueueUrl } = await queues.send(
    new CreateQueueCommand({ QueueName: `notices-${unique()}`, Attributes: { Policy: policyFor(TopicArn) } }),
  );
  const { Attributes } = await queues.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }));
  const { SubscriptionArn } = await topics.send(
    new SubscribeCommand({
      TopicArn,
      Protocol: 'sqs',
      Endpoint: Attributes?.QueueArn,
      ReturnSubscriptionArn: true,
      Attributes: {
        RawMessageDelivery: 'true',
        ...(filterPolicy && { FilterPolicy: JSON.stringify(filterPolicy) }),
      },
    }),
  );
  const notices: ReceivedNotice[] = [];

  return {
    async received() {
      const { Messages = [] } = await queues.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] }),
      );
      for (const { Body: text = '', MessageAttributes = {}, ReceiptHandle } of Messages) {
        const attributes = Object.entries(MessageAttributes).map(([name, { StringValue }]) => [name, StringValue]);
        notices.push({ text, body: JSON.parse(text), attributes: Object.fromEntries(attributes) });
        await queues.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
      return notices;
    },

    async stop() {
      await topics.send(new UnsubscribeCommand({ SubscriptionArn }));
      await queues.send(new DeleteQueueCommand({ QueueUrl }));
    },
  };
}

/** Lets the topic, and nobody else, send to the queue that has this policy. */
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
