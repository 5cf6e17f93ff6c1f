import { retryAfter } from '../../api/problem.ts';
import { type ContextOf, type Handlers, jsonResponse } from '../../api/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { HttpResponse } from '../../platform/http.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { requireEventName } from '../../webhooks/event-in-path.ts';
import type { WebhookStore } from '../../webhooks/webhook-store.ts';
import { newDelivery, testIdOf } from '../delivery.ts';
import { sampleBody } from '../intake/event.ts';
import { type AttemptQueue, trySend } from '../queues.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { DeliveryTelemetry } from '../telemetry.ts';
import { dueNow } from '../transitions.ts';
import type { RequestLimits } from './request-limits.ts';
import type { acceptedDelivery } from './responses.ts';
import type { deliveryRoutes } from './routes.ts';

/**
 * Returns the function that sends a sample event to a webhook. It stores the delivery and sends a message to the retry lane, so the API needs
 * neither the receiver's credentials nor access to its network. If the message is lost, the sweeper resends it.
 */
export function makeSendTest(
  dependencies: Pick<DeliveryTelemetry, 'log'> & {
    readonly webhooks: Pick<WebhookStore, 'recordTest'>;
    readonly limits: Pick<RequestLimits, 'countTest'>;
    readonly store: Pick<DeliveryStore, 'create'>;
    readonly retryQueue: Pick<AttemptQueue, 'send'>;
    readonly demandsUrl: string;
    readonly makeId: MakeId;
    readonly now: Clock;
  },
): Handlers<typeof deliveryRoutes>['sendTest'] {
  const { webhooks, limits, store, retryQueue, demandsUrl, makeId, now, log } = dependencies;

  return async function sendTest(context: ContextOf<typeof deliveryRoutes, 'sendTest'>): Promise<HttpResponse> {
    const eventName = requireEventName(context);
    const { caller, makeProblem } = context;
    const { accountId } = caller;
    const webhook = await webhooks.recordTest(accountId, eventName, now());
    if (!webhook) throw makeProblem('webhook_not_found');
    if (webhook.suspensionReason === 'operator') throw makeProblem('suspended_by_operator');
    const seconds = await limits.countTest(accountId);
    if (seconds !== undefined) throw makeProblem('test_limit_reached', { headers: retryAfter(seconds) });

    const moment = now();
    const { webhookId } = webhook;
    const origin = { accountId, eventName, webhookId, body: sampleBody(eventName, demandsUrl), createdAt: moment };
    const delivery = dueNow(newDelivery({ ...origin, id: testIdOf(makeId(22)) }), moment);
    await store.create(delivery);
    await trySend(retryQueue, delivery, { log });
    return jsonResponse<typeof acceptedDelivery>(202, { id: delivery.id });
  };
}
