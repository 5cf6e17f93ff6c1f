import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../platform/batch-get.ts';
import { type EventName, type Webhook, webhookIn, webhookKey } from '../webhooks/webhook.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { type StoredSlowness, slownessId, slownessOf } from './isolation/slowness-store.ts';

/** Reads all three in one consistent, uncached round trip: what changed in a webhook holds from its next attempt on. */
export type Lookup = (id: string, accountId: string, eventName: EventName) => Promise<Found>;

/** Makes the lookup over the tables `Deliveries` and `Webhooks`. */
export function makeLookup(
  store: Pick<DeliveryStore, 'readWith'>,
  { deliveries, webhooks }: { readonly deliveries: string; readonly webhooks: string },
): Lookup {
  return async function lookup(id, accountId, eventName) {
    const owner = { accountId, eventName };
    const [delivery, webhook, slowness] = await store.readWith(id, [
      { table: webhooks, key: webhookKey(accountId, eventName) },
      { table: deliveries, key: { id: slownessId(owner) } },
    ]);
    return { delivery, webhook: webhookIn(webhook), slowness: slownessOf(owner, slowness) };
  };
}

/** Finds the webhook that is registered now; consistent and uncached. */
export type FindWebhook = (accountId: string, eventName: EventName) => Promise<Webhook | undefined>;

/** Makes the same reading for whoever needs no delivery beside it. */
export function makeFindWebhook(dynamo: Pick<DynamoDBDocumentClient, 'send'>, webhooksTable: string): FindWebhook {
  return async function findWebhook(accountId, eventName) {
    const [item] = await batchGet(dynamo, [{ table: webhooksTable, key: webhookKey(accountId, eventName) }]);
    return webhookIn(item);
  };
}

/** A delivery, where there is one already, the webhook that is registered now, and how slowly its receiver answers. */
interface Found {
  readonly delivery: Delivery | undefined;
  readonly webhook: Webhook | undefined;
  readonly slowness: StoredSlowness;
}
