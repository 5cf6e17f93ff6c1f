import type { SQSClient } from '@aws-sdk/client-sqs';
import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  type QueueAttributeName,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { type Delivery, isDeliveryId } from '../../lambdas/delivery/delivery.ts';
import { deliveryFromItem } from '../../lambdas/delivery/store/delivery-item.ts';
import { headPart } from '../../lambdas/delivery/store/head-key.ts';
import type { Dynamo, Item } from '../../lambdas/platform/aws/dynamo.ts';
import type { LocalOutputs } from '../../tools/support/local-run.ts';

/** Returns the queues that have consumers. */
export function workQueuesOf({ EventsQueueUrl, RetryQueueUrl, SlowQueueUrl }: LocalOutputs): readonly string[] {
  return [EventsQueueUrl, RetryQueueUrl, SlowQueueUrl];
}

/** Counts messages in any state: visible, in flight or delayed. */
export async function waitingMessages(sqs: SQSClient, outputs: LocalOutputs): Promise<number> {
  const each = await Promise.all(workQueuesOf(outputs).map(url => messagesIn(sqs, url)));
  return each.reduce((sum, messages) => sum + messages, 0);
}

/** Sets for how many seconds a received message stays hidden. */
export async function setVisibility(sqs: SQSClient, QueueUrl: string, seconds: number): Promise<void> {
  const Attributes = { VisibilityTimeout: String(seconds) };
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
}

/** Receives and deletes all visible messages of a queue. */
export async function takeAll(sqs: SQSClient, QueueUrl: string): Promise<readonly Message[]> {
  const taken: Message[] = [];
  for (;;) {
    const receive = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageAttributeNames: ['All'] });
    const { Messages = [] } = await sqs.send(receive);
    if (Messages.length === 0) return taken;
    taken.push(...Messages);
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
}

/** The deliveries and pending announcements in the tables. */
export interface StoredState {
  /** By id. */
  readonly deliveries: ReadonlyMap<string, Delivery>;
  /** Webhooks with a pending announcement: `<account>#<event>`. */
  readonly announcing: ReadonlySet<string>;
}

/** Reads all deliveries and pending announcements. */
export async function readStored(
  dynamo: Dynamo,
  { DeliveriesTable, WebhooksTable }: Pick<LocalOutputs, 'DeliveriesTable' | 'WebhooksTable'>,
): Promise<StoredState> {
  const items = await readAll(dynamo, DeliveriesTable);
  const deliveries = items
    .filter(({ id, part }) => isDeliveryId(String(id)) && part === headPart)
    .map(deliveryFromItem);
  const waiting = (await readAll(dynamo, WebhooksTable)).filter(item => item.announcements !== undefined);
  return {
    deliveries: new Map(deliveries.map(delivery => [delivery.id, delivery])),
    announcing: new Set(waiting.map(({ accountId, eventName }) => `${accountId}#${eventName}`)),
  };
}

async function messagesIn(sqs: SQSClient, QueueUrl: string): Promise<number> {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: counts }));
  return Object.values(Attributes).reduce((sum, value) => sum + Number(value), 0);
}

const counts: QueueAttributeName[] = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
];

async function readAll(dynamo: Dynamo, TableName: string | undefined): Promise<Item[]> {
  const items: Item[] = [];
  let ExclusiveStartKey: Item | undefined;
  do {
    const page = await dynamo(
      new ScanCommand({ TableName, ConsistentRead: true, ...(ExclusiveStartKey && { ExclusiveStartKey }) }),
    );
    items.push(...(page.Items ?? []));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return items;
}
