import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { readTogether } from '../platform/dynamodb.ts';
import { type EventName, parseWebhook, type Webhook, webhookKey } from '../webhooks/webhook.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';

/** A delivery, where there is one already, and the webhook that is registered now. */
interface Found {
  readonly delivery: Delivery | undefined;
  readonly webhook: Webhook | undefined;
}

/** Reads both in one consistent, uncached round trip: what changed in a webhook holds from its next attempt on. */
export type Lookup = (id: string, accountId: string, evento: EventName) => Promise<Found>;

/** Makes the lookup over the tables `Deliveries` and `Webhooks`. */
export const makeLookup =
  (store: Pick<DeliveryStore, 'readWith'>, webhooksTable: string): Lookup =>
  async (id, accountId, evento) => {
    const [delivery, item] = await store.readWith(id, { table: webhooksTable, key: webhookKey(accountId, evento) });
    return { delivery, webhook: item && parseWebhook(item) };
  };

/** Finds the webhook that is registered now; consistent and uncached. */
export type FindWebhook = (accountId: string, evento: EventName) => Promise<Webhook | undefined>;

/** Makes the same reading for whoever needs no delivery beside it. */
export const makeFindWebhook =
  (documents: Pick<DynamoDBDocumentClient, 'send'>, webhooksTable: string): FindWebhook =>
  async (accountId, evento) => {
    const [item] = await readTogether(documents, [{ table: webhooksTable, key: webhookKey(accountId, evento) }]);
    return item && parseWebhook(item);
  };
