import type { SQSClient } from '@aws-sdk/client-sqs';
import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  type QueueAttributeName,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { type Delivery, isDeliveryId } from '../../lambdas/delivery/delivery.ts';
import { deliveryFromItem } from '../../lambdas/delivery/delivery-item.ts';
import { noticesPrefix } from '../../lambdas/delivery/suspension-notice.ts';
import type { Item } from '../../lambdas/platform/dynamodb.ts';
import type { LocalOutputs } from '../support/local-run.ts';

const counts: QueueAttributeName[] = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
];

const messagesIn = async (sqs: SQSClient, QueueUrl: string): Promise<number> => {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: counts }));
  return Object.values(Attributes).reduce((sum, value) => sum + Number(value), 0);
};

/** The queues that have consumers. */
export const workQueuesOf = ({ EventsQueueUrl, RetryQueueUrl, SlowQueueUrl }: LocalOutputs): readonly string[] => [
  EventsQueueUrl,
  RetryQueueUrl,
  SlowQueueUrl,
];

/** Messages that are not done with, whatever their state. */
export const waitingMessages = async (sqs: SQSClient, outputs: LocalOutputs): Promise<number> => {
  const each = await Promise.all(workQueuesOf(outputs).map(url => messagesIn(sqs, url)));
  return each.reduce((sum, messages) => sum + messages, 0);
};

/** Sets for how many seconds a received message stays hidden. */
export const setVisibility = async (sqs: SQSClient, QueueUrl: string, seconds: number): Promise<void> => {
  const Attributes = { VisibilityTimeout: String(seconds) };
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
};

/** Takes all messages that a queue shows off it. */
export const takeAll = async (sqs: SQSClient, QueueUrl: string): Promise<readonly Message[]> => {
  const taken: Message[] = [];
  for (;;) {
    const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] });
    const { Messages = [] } = await sqs.send(receive);
    if (Messages.length === 0) return taken;
    taken.push(...Messages);
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
};

/** What the table `Deliveries` holds. */
export interface Stored {
  /** By id. */
  readonly deliveries: ReadonlyMap<string, Delivery>;
  /** Suspensions that are still to be announced: `<account>#<event>`. */
  readonly notices: ReadonlySet<string>;
}

/** Reads the whole table `Deliveries`. */
export const readStored = async (documents: DynamoDBDocumentClient, TableName: string): Promise<Stored> => {
  const deliveries = new Map<string, Delivery>();
  const notices = new Set<string>();
  let ExclusiveStartKey: Item | undefined;
  do {
    const page = await documents.send(
      new ScanCommand({ TableName, ConsistentRead: true, ...(ExclusiveStartKey && { ExclusiveStartKey }) }),
    );
    for (const item of page.Items ?? []) {
      const id = String(item.id);
      if (isDeliveryId(id)) deliveries.set(id, deliveryFromItem(item));
      else if (id.startsWith(`${noticesPrefix}#`) && item.dueAt !== undefined)
        notices.add(id.slice(noticesPrefix.length + 1));
    }
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return { deliveries, notices };
};
