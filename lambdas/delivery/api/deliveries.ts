import { Problem, rateLimited } from '../../api/problem.ts';
import { jsonResponse, type RequestContext, type RouteHandler } from '../../api/route.ts';
import { requireEventName, webhookNotFound } from '../../webhooks/problems.ts';
import type { EventName, Webhook } from '../../webhooks/webhook.ts';
import { type Delivery, isDeliveryId } from '../delivery.ts';
import type { ReadHistory } from '../delivery-history.ts';
import type { FindWebhook, Lookup } from '../lookup.ts';
import { asShown, toDeliveryDetail, toDeliveryRecord } from '../representation.ts';
import { cursorOf } from './cursor.ts';
import { historyParameters, historyQuery, readQuery } from './input.ts';
import type { RequestLimits } from './request-limits.ts';
import { type Resend, type ResendRefusal, resendRefusal } from './resend.ts';

/** What the operations on the history are made of. */
export interface HistoryOperationDependencies {
  readonly findWebhook: FindWebhook;
  readonly lookup: Lookup;
  readonly readHistory: ReadHistory;
  readonly resend: Resend;
  readonly limits: Pick<RequestLimits, 'countResend'>;
}

/** The refusal of what only an active webhook can do. */
export function webhookSuspended(): Problem {
  return new Problem(409, 'webhook_suspended', 'The webhook is suspended: reactivate it first.');
}

/** Makes the operations on deliveries that have been: list, show, resend. */
export function makeHistoryOperations(dependencies: HistoryOperationDependencies) {
  const { findWebhook, lookup, readHistory, resend, limits } = dependencies;

  /** The history outlives its webhook: without both there is nothing at these paths. */
  const requireHistory = async (accountId: string, eventName: EventName, webhook: Webhook | undefined) => {
    if (webhook) return;
    const { deliveries } = await readHistory({ accountId, eventName, limit: 1 });
    if (deliveries.length === 0) throw webhookNotFound();
  };

  /** Reads the delivery that the path names, and the webhook of now. An account sees its own only, under their own event. */
  const find = async (context: RequestContext): Promise<{ delivery: Delivery; webhook: Webhook | undefined }> => {
    const eventName = requireEventName(context);
    const { accountId } = context.caller;
    const { id = '' } = context.path;
    const found = isDeliveryId(id)
      ? await lookup(id, accountId, eventName)
      : { delivery: undefined, webhook: await findWebhook(accountId, eventName) };
    const { delivery, webhook } = found;
    if (delivery?.accountId === accountId && delivery.eventName === eventName) return { delivery, webhook };
    await requireHistory(accountId, eventName, webhook);
    throw deliveryNotFound();
  };

  const list: RouteHandler = async context => {
    const query = readQuery(historyQuery, historyParameters, context.request.rawQueryString ?? '');
    const { estado: state, desde: from, ate: before, limite: limit, cursor: after } = query;
    const eventName = requireEventName(context);
    const { accountId } = context.caller;
    const webhook = await findWebhook(accountId, eventName);
    const registration = webhook ?? null;
    const wanted = { accountId, eventName, state, from, before, limit, after, registration };
    const { deliveries, next } = await readHistory(wanted);
    if (deliveries.length === 0) await requireHistory(accountId, eventName, webhook);
    return jsonResponse(200, {
      entregas: deliveries.map(toDeliveryRecord),
      proximo_cursor: next === undefined ? null : cursorOf(next),
    });
  };

  const show: RouteHandler = async context => {
    const { delivery, webhook } = await find(context);
    return jsonResponse(200, toDeliveryDetail(asShown(webhook?.webhookId)(delivery)));
  };

  const resendOne: RouteHandler = async context => {
    const { delivery, webhook } = await find(context);
    if (!webhook) throw webhookNotFound();
    const refusal = resendRefusal(delivery, webhook);
    if (refusal) throw refusals[refusal]();
    const seconds = await limits.countResend(delivery.accountId, delivery.eventName);
    if (seconds !== undefined) {
      throw rateLimited('The webhook has used up its resends of this minute: wait as Retry-After says.', seconds);
    }
    await resend(delivery);
    return jsonResponse(202, { id: delivery.id });
  };

  return { list, show, resend: resendOne } satisfies Record<string, RouteHandler>;
}

function deliveryNotFound(): Problem {
  return new Problem(404, 'delivery_not_found', 'There is no such delivery of this webhook, or it is past its time.');
}

const refusals: Record<ResendRefusal, () => Problem> = {
  webhook_suspended: webhookSuspended,
  webhook_replaced: () =>
    new Problem(409, 'webhook_replaced', 'The delivery was for an earlier registration, and stays as it is.'),
  test_delivery: () => new Problem(409, 'test_delivery', 'A test is not sent again: ask for another one.'),
};
