import type { Delivery } from '../../../lambdas/delivery/delivery.ts';
import { stateFromWire, toAttemptRecord, toDeliveryRecord } from '../../../lambdas/delivery/representation.ts';
import { resendDelivery, showDelivery } from '../../deliveries/deliveries.command.ts';
import { beginReplay, findDelivery as readDelivery, readPage } from '../../deliveries/delivery-pages.ts';
import type { Task } from '../../stage/target.ts';
import {
  attemptView,
  type DeliveryQuery,
  type DeliveryReference,
  type DeliveryRow,
  type DeliveryView,
  deliveryRow,
  type ReplayRange,
} from '../views.ts';
import { eventName } from './event-name.ts';

/** Makes the part of an operator's source that shows deliveries and sends them again. */
export function operatorDeliveries(task: Task) {
  return { listDeliveries, latestDeliveries, findDelivery, readBody, resend, replay };

  async function listDeliveries({ account, event, state, since, until, cursor, limit }: DeliveryQuery) {
    const page = await readPage(task.target, {
      account,
      event: eventName(event),
      state: state && stateFromWire(state),
      since: momentOf(since),
      until: momentOf(until),
      after: cursor,
      limit,
    });
    return { deliveries: page.deliveries.map(rowOf), next: page.next ?? null };
  }

  async function latestDeliveries(account: string, event: string) {
    const page = await readPage(task.target, { account, event: eventName(event), limit: 50 });
    return { deliveries: page.deliveries.map(viewOf), next: page.next ?? null };
  }

  /** An id is unique across webhooks. The page of another webhook must not show this delivery. */
  async function findDelivery({ account, event, id }: DeliveryReference) {
    const delivery = await readDelivery(task.target, id);
    return delivery && delivery.accountId === account && delivery.eventName === event ? viewOf(delivery) : undefined;
  }

  async function readBody({ id }: DeliveryReference) {
    return (await showDelivery.act(task, { id, body: true })).body;
  }

  async function resend({ id }: DeliveryReference) {
    await resendDelivery.act(task, { id });
  }

  async function replay({ account, event, state, since, until }: ReplayRange) {
    await beginReplay(task, {
      account,
      event: eventName(event),
      from: Date.parse(since),
      to: Date.parse(until),
      wanted: state === 'falhou' ? 'failed' : 'held',
    });
  }
}

function momentOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}

function rowOf(delivery: Delivery): DeliveryRow {
  return deliveryRow({ account: delivery.accountId, event: delivery.eventName }, toDeliveryRecord(delivery));
}

function viewOf(delivery: Delivery): DeliveryView {
  return { ...rowOf(delivery), made: delivery.attempts.map(toAttemptRecord).map(attemptView) };
}
