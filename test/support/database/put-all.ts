import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Dynamo } from '../../../lambdas/platform/aws/dynamo.ts';
import { inBatches } from '../../../lambdas/platform/in-batches.ts';

/** Puts items into a table. A request has at most 25 items, which is DynamoDB's limit. */
export async function putAll(dynamo: Dynamo, table: string, items: readonly object[]): Promise<void> {
  for await (const batch of inBatches(items, 25)) {
    const puts = batch.map(item => ({ PutRequest: { Item: { ...item } } }));
    await dynamo(new BatchWriteCommand({ RequestItems: { [table]: puts } }));
  }
}
