import { Problem, webhookNotFound } from '../webhooks/problem.ts';
import { answer, type Call, eventIn, type Operation } from '../webhooks/resource.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import { type Delivery, isDeliveryId } from './delivery.ts';
import type { ReadHistory } from './delivery-history.ts';
import { toDeliveryDetail, toDeliveryRecord } from './delivery-record.ts';
import { cursorOf } from './history-cursor.ts';
import { historyQuery, readQuery } from './history-input.ts';
import type { FindWebhook, Lookup } from './lookup.ts';
import type { Resend } from './resend.ts';

/** What the operations on the history stand on. */
export interface HistoryOperationDependencies {
  readonly findWebhook: FindWebhook;
  readonly lookup: Lookup;
  readonly readHistory: ReadHistory;
  readonly resend: Resend;
}

/** The refusal of what only an active webhook can do. */
export const webhookSuspended = (): Problem =>
  new Problem(409, 'webhook_suspended', 'The webhook is suspended: reactivate it first.');

const deliveryNotFound = (): Problem =>
  new Problem(404, 'delivery_not_found', 'There is no such delivery of this webhook, or it is past its time.');

/** Makes the operations on deliveries that have been: list, show, resend. */
export const makeHistoryOperations = (dependencies: HistoryOperationDependencies) => {
  const { findWebhook, lookup, readHistory, resend } = dependencies;

  /** Reads the delivery that the path names, and its webhook. An account sees its own only, under their own event. */
  const find = async (call: Call): Promise<{ delivery: Delivery; webhook: Webhook }> => {
    const evento = eventIn(call);
    const { accountId } = call.caller;
    const { id = '' } = call.path;
    if (!isDeliveryId(id)) {
      throw (await findWebhook(accountId, evento)) ? deliveryNotFound() : webhookNotFound();
    }
    const { delivery, webhook } = await lookup(id, accountId, evento);
    if (!webhook) throw webhookNotFound();
    if (delivery?.accountId !== accountId || delivery.evento !== evento) throw deliveryNotFound();
    return { delivery, webhook };
  };

  const list: Operation = async call => {
    const { estado: state, limite: limit, cursor: after } = readQuery(historyQuery, call.request.rawQueryString ?? '');
    const evento = eventIn(call);
    const { accountId } = call.caller;
    if (!(await findWebhook(accountId, evento))) throw webhookNotFound();
    const { deliveries, next } = await readHistory({ accountId, evento, state, limit, after });
    return answer(200, {
      entregas: deliveries.map(toDeliveryRecord),
      proximo_cursor: next === undefined ? null : cursorOf(next),
    });
  };

  const show: Operation = async call => {
    const { delivery } = await find(call);
    return answer(200, toDeliveryDetail(delivery));
  };

  const resendOne: Operation = async call => {
    const { delivery, webhook } = await find(call);
    switch (await resend(delivery, webhook)) {
      case 'resent':
        return answer(202, { id: delivery.id });
      case 'delivery_pending':
        throw new Problem(409, 'delivery_pending', 'The delivery is pending: it is sent when its next attempt is due.');
      case 'webhook_suspended':
        throw webhookSuspended();
    }
  };

  return { list, show, resend: resendOne } satisfies Record<string, Operation>;
};
