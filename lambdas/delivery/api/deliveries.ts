import { finding } from '../../api/findings.ts';
import { retryAfter } from '../../api/problem.ts';
import { type ContextOf, type Handlers, jsonResponse, type RequestContext } from '../../api/route.ts';
import type { HttpResponse } from '../../platform/http.ts';
import type { OperationId } from '../../platform/route-table.ts';
import { requireEventName } from '../../webhooks/event-in-path.ts';
import type { EventName, Webhook } from '../../webhooks/webhook.ts';
import { type Delivery, isDeliveryId } from '../delivery.ts';
import { type deliveryDetail, toDeliveryDetail, toDeliveryRecord, toDisplayed } from '../representation.ts';
import type { ReadHistory } from '../store/delivery-history.ts';
import type { FindDeliveryWithWebhook, FindWebhook } from '../store/find-webhook.ts';
import type { ReadResponses } from '../store/read-responses.ts';
import { deliveryIdIn, encodeCursor } from './cursor.ts';
import { deliveryFindings } from './findings.ts';
import { historyQuery, parseQuery } from './input.ts';
import type { RequestLimits } from './request-limits.ts';
import { type Resend, resendError } from './resend.ts';
import type { acceptedDelivery, deliveryPage } from './responses.ts';
import type { deliveryRoutes } from './routes.ts';

export function makeDeliveryHandlers(dependencies: {
  readonly findWebhook: FindWebhook;
  readonly findDeliveryWithWebhook: FindDeliveryWithWebhook;
  readonly readResponses: ReadResponses;
  readonly readHistory: ReadHistory;
  readonly resend: Resend;
  readonly limits: Pick<RequestLimits, 'countResend'>;
}): Pick<Handlers<typeof deliveryRoutes>, 'listDeliveries' | 'getDelivery' | 'resendDelivery'> {
  const { findWebhook, findDeliveryWithWebhook, readResponses, readHistory, resend, limits } = dependencies;

  return { listDeliveries, getDelivery, resendDelivery };

  async function listDeliveries(context: Context<'listDeliveries'>): Promise<HttpResponse> {
    const query = parseQuery(historyQuery, context.request.rawQueryString ?? '', context.makeProblem);
    const { estado: state, desde: from, ate: before, limite: limit, cursor: after } = query;
    const eventName = requireEventName(context);
    const { accountId } = context.caller;
    const webhook = await findWebhookForCursor(context, eventName, after);
    const registration = webhook ?? null;
    const selection = { accountId, eventName, state, from, before, limit, after, registration };
    const { deliveries, next } = await readHistory(selection);
    if (deliveries.length === 0 && next === undefined) await requireWebhookOrHistory(context, eventName, webhook);
    return jsonResponse<typeof deliveryPage>(200, {
      entregas: deliveries.map(toDeliveryRecord),
      proximo_cursor: next === undefined ? null : encodeCursor(next),
    });
  }

  /** Finds the webhook of an event and checks that the cursor belongs to the event's list. @throws {Problem} 422 if not. */
  async function findWebhookForCursor(
    { caller: { accountId }, makeProblem }: Context<'listDeliveries'>,
    eventName: EventName,
    after: string | undefined,
  ): Promise<Webhook | undefined> {
    if (after === undefined) return findWebhook(accountId, eventName);
    const { delivery, webhook } = await findDeliveryWithWebhook(deliveryIdIn(after), accountId, eventName);
    // The response must not reveal that a delivery of another account exists.
    if (delivery?.accountId === accountId && delivery.eventName !== eventName) {
      throw makeProblem('validation_failed', { errors: [finding({ parameter: 'cursor' }, deliveryFindings.cursor)] });
    }
    return webhook;
  }

  async function getDelivery(context: Context<'getDelivery'>): Promise<HttpResponse> {
    const { delivery, webhook } = await findDelivery(context);
    const displayed = toDisplayed(webhook?.webhookId)(await readResponses(delivery));
    return jsonResponse<typeof deliveryDetail>(200, toDeliveryDetail(displayed));
  }

  async function resendDelivery(context: Context<'resendDelivery'>): Promise<HttpResponse> {
    const { delivery, webhook } = await findDelivery(context);
    if (!webhook) throw context.makeProblem('webhook_not_found');
    const error = resendError(delivery, webhook);
    if (error) throw context.makeProblem(error);
    const seconds = await limits.countResend(delivery.accountId, delivery.eventName);
    if (seconds !== undefined) throw context.makeProblem('resend_limit_reached', { headers: retryAfter(seconds) });
    await resend(delivery);
    return jsonResponse<typeof acceptedDelivery>(202, { id: delivery.id });
  }

  /** Finds the current webhook, and the delivery in the path if it belongs to the account and the event. */
  async function findDelivery(
    context: RequestContext<'webhook_not_found' | 'delivery_not_found'>,
  ): Promise<{ delivery: Delivery; webhook: Webhook | undefined }> {
    const eventName = requireEventName(context);
    const { accountId } = context.caller;
    const { id = '' } = context.path;
    const { delivery, webhook } = isDeliveryId(id)
      ? await findDeliveryWithWebhook(id, accountId, eventName)
      : { delivery: undefined, webhook: await findWebhook(accountId, eventName) };
    if (delivery?.accountId === accountId && delivery.eventName === eventName) return { delivery, webhook };
    await requireWebhookOrHistory(context, eventName, webhook);
    throw context.makeProblem('delivery_not_found');
  }

  /** Throws only if neither a webhook nor a history exists. A history outlives its webhook, and any of its pages may be empty. */
  async function requireWebhookOrHistory(
    context: RequestContext<'webhook_not_found'>,
    eventName: EventName,
    webhook: Webhook | undefined,
  ): Promise<void> {
    if (webhook) return;
    const { accountId } = context.caller;
    const { deliveries, next } = await readHistory({ accountId, eventName, limit: 1 });
    if (deliveries.length === 0 && next === undefined) throw context.makeProblem('webhook_not_found');
  }
}

type Context<Id extends OperationId<typeof deliveryRoutes>> = ContextOf<typeof deliveryRoutes, Id>;
