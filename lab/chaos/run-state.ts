import { GetQueueAttributesCommand, SetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
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

/** Counts the messages that a queue shows. */
export async function messagesIn(sqs: SQSClient, QueueUrl: string): Promise<number> {
  const AttributeNames = ['ApproximateNumberOfMessages' as const];
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }));
  return Number(Attributes?.ApproximateNumberOfMessages);
}

/** Sets for how many seconds a received message stays hidden. */
export async function setVisibility(sqs: SQSClient, QueueUrl: string, seconds: number): Promise<void> {
  const Attributes = { VisibilityTimeout: String(seconds) };
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
}

/** Reads all deliveries, by id. */
export async function readDeliveries(dynamo: Dynamo, TableName: string): Promise<ReadonlyMap<string, Delivery>> {
  const deliveries = new Map<string, Delivery>();
  let ExclusiveStartKey: Item | undefined;
  do {
    const page = await dynamo(
      new ScanCommand({ TableName, ConsistentRead: true, ...(ExclusiveStartKey && { ExclusiveStartKey }) }),
    );
    for (const item of page.Items ?? []) {
      if (isDeliveryId(String(item.id)) && item.part === headPart) deliveries.set(item.id, deliveryFromItem(item));
    }
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return deliveries;
}
