import { type EventName, type Webhook, webhookIn, webhookKey } from '../../webhooks/webhook.ts';
import { slownessId } from '../lanes/slow-since.ts';
import type { Slowness } from '../lanes/slowness.ts';
import { slownessOf } from '../lanes/slowness-store.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import { headKey } from '../store/head-key.ts';

/** The currently registered webhook and the slowness of its receiver, which determine how an attempt is made. */
export interface WebhookState {
  readonly webhook: Webhook | undefined;
  readonly slowness: Slowness;
}

export type FindWebhookState = ReturnType<typeof makeFindWebhookState>;

/**
 * Returns the function that reads the webhook's state, and the delivery if it is stored, in one round trip. The read is strongly consistent
 * and uncached, so changes to a webhook apply from its next attempt.
 */
export function makeFindWebhookState(
  store: Pick<DeliveryStore, 'readWith'>,
  { deliveries, webhooks }: { readonly deliveries: string; readonly webhooks: string },
) {
  return async function findWebhookState(id: string, accountId: string, eventName: EventName) {
    const [delivery, webhook, slowness] = await store.readWith(id, [
      { table: webhooks, key: webhookKey(accountId, eventName) },
      headKey(deliveries, slownessId({ accountId, eventName })),
    ]);
    return { delivery, webhook: webhookIn(webhook), slowness: slownessOf(slowness) };
  };
}
