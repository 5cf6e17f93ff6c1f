import { batchGet } from '../../platform/aws/batch-get.ts';
import type { Dynamo } from '../../platform/aws/dynamo.ts';
import { type EventName, type Webhook, webhookIn, webhookKey } from '../../webhooks/webhook.ts';
import type { Delivery } from '../delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';

/** Reads a delivery and the webhook that is registered now, in one consistent, uncached round trip. */
export type FindDeliveryWithWebhook = (
  id: string,
  accountId: string,
  eventName: EventName,
) => Promise<{ readonly delivery: Delivery | undefined; readonly webhook: Webhook | undefined }>;

/** Returns the function that reads both from the tables `Deliveries` and `Webhooks`. */
export function makeFindDeliveryWithWebhook(
  store: Pick<DeliveryStore, 'readWith'>,
  webhooksTable: string,
): FindDeliveryWithWebhook {
  return async function findDeliveryWithWebhook(id, accountId, eventName) {
    const [delivery, webhook] = await store.readWith(id, [
      { table: webhooksTable, key: webhookKey(accountId, eventName) },
    ]);
    return { delivery, webhook: webhookIn(webhook) };
  };
}

/** Finds the webhook that is registered now; consistent and uncached. */
export type FindWebhook = (accountId: string, eventName: EventName) => Promise<Webhook | undefined>;

/** Returns the function that finds a webhook, for callers that need no delivery beside it. */
export function makeFindWebhook(dynamo: Dynamo, webhooksTable: string): FindWebhook {
  return async function findWebhook(accountId, eventName) {
    const [item] = await batchGet(dynamo, [{ table: webhooksTable, key: webhookKey(accountId, eventName) }]);
    return webhookIn(item);
  };
}
