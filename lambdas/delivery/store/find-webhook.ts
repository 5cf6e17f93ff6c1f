import { batchGet } from '../../platform/aws/batch-get.ts';
import type { Dynamo } from '../../platform/aws/dynamo.ts';
import { type EventName, type Webhook, webhookIn, webhookKey } from '../../webhooks/webhook.ts';
import type { DeliveryStore } from './delivery-store.ts';

export type FindDeliveryWithWebhook = ReturnType<typeof makeFindDeliveryWithWebhook>;

/** Returns the function that reads a delivery and the currently registered webhook in one strongly consistent, uncached round trip. */
export function makeFindDeliveryWithWebhook(store: Pick<DeliveryStore, 'readWith'>, webhooksTable: string) {
  return async function findDeliveryWithWebhook(id: string, accountId: string, eventName: EventName) {
    const [delivery, webhook] = await store.readWith(id, [
      { table: webhooksTable, key: webhookKey(accountId, eventName) },
    ]);
    return { delivery, webhook: webhookIn(webhook) };
  };
}

export type FindWebhook = ReturnType<typeof makeFindWebhook>;

/** Returns the function that reads the currently registered webhook. The read is strongly consistent and uncached. */
export function makeFindWebhook(dynamo: Dynamo, webhooksTable: string) {
  return async function findWebhook(accountId: string, eventName: EventName): Promise<Webhook | undefined> {
    const [item] = await batchGet(dynamo, [{ table: webhooksTable, key: webhookKey(accountId, eventName) }]);
    return webhookIn(item);
  };
}
