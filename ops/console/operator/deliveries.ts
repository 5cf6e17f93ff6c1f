import { decodeCursor, encodeCursor } from '../../../lambdas/delivery/api/cursor.ts';
import type { Delivery } from '../../../lambdas/delivery/delivery.ts';
import { progressAt, slotOf } from '../../../lambdas/delivery/replay/replay.ts';
import {
  stateFromWire,
  toAttemptRecord,
  toDeliveryRecord,
  wireReplayStates,
} from '../../../lambdas/delivery/representation.ts';
import { listKeyOf } from '../../../lambdas/delivery/store/delivery-item.ts';
import { resendDelivery, showDelivery } from '../../deliveries/deliveries.command.ts';
import { countInState, readTimes } from '../../deliveries/delivery-counts.ts';
import {
  beginReplay,
  cancelReplay as cancelBegun,
  findDelivery as readDelivery,
  readPage,
} from '../../deliveries/delivery-pages.ts';
import { CliError } from '../../stage/operator.ts';
import { findLatestReplay } from '../../stage/stores.ts';
import type { Task } from '../../stage/target.ts';
import {
  attemptView,
  countBySteps,
  type DeliveryQuery,
  type DeliveryReference,
  type DeliveryRow,
  type DeliveryView,
  deliveryRow,
  momentOf,
  NotThere,
  type ReplayRange,
  type ReplayView,
  type Tally,
  type TallySpan,
  type WebhookReference,
  type WebhookView,
} from '../views.ts';
import { registrationOf } from './event-name.ts';

/** Makes the part of an operator's source that shows deliveries, counts them and sends them again. */
export function operatorDeliveries(task: Task) {
  const { target } = task;
  return {
    ...{ listDeliveries, latestDeliveries, findDelivery, readBody, resend },
    ...{ tally, countMatching, replay, findReplay, cancelReplay },
  };

  async function listDeliveries(query: DeliveryQuery) {
    const page = await read(query, query.limit);
    return { deliveries: page.deliveries.map(rowOf), next: cursorAt(page.next) };
  }

  async function latestDeliveries(query: DeliveryQuery) {
    const { deliveries, next } = await read(query, mostTimed);
    const shown = deliveries.slice(0, query.limit);
    const last = shown.at(-1);
    return {
      deliveries: shown.map(rowOf),
      next: cursorAt(last && deliveries.length > shown.length ? listKeyOf(last) : next),
      timed: deliveries.map(viewOf),
    };
  }

  async function read({ state, since, until, cursor, webhook, ...asked }: DeliveryQuery, limit: number) {
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    if (cursor !== undefined && after === undefined) throw new CliError(`The list has no place "${cursor}".`);
    return readPage(target, {
      ...registrationOf(asked),
      state: state && stateFromWire(state),
      since: momentOf(since),
      until: momentOf(until),
      registration: webhook && registeredAs(webhook),
      after,
      limit,
    });
  }

  async function tally(span: TallySpan): Promise<Tally> {
    const { from, until } = span;
    const times = await readTimes(target, { ...registrationOf(span), from, before: until }, callsOfTally);
    const failed = countBySteps(span, times.failed);
    // An index lags: what has just failed may count as failed before it counts as undelivered.
    const open = countBySteps(span, times.undelivered).map((count, at) => Math.max(0, count - (failed[at] ?? 0)));
    return { counts: { delivered: countBySteps(span, times.delivered), failed, open }, reached: times.reached };
  }

  async function countMatching({ since, until, state, ...asked }: ReplayRange) {
    const span = { ...registrationOf(asked), from: Date.parse(since), before: Date.parse(until) };
    return countInState(target, span, stateFromWire(state) === 'failed' ? 'failed' : 'held');
  }

  /** An id is unique across webhooks. The page of another webhook must not show this delivery. */
  async function findDelivery({ account, event, id }: DeliveryReference) {
    const delivery = await readDelivery(target, id);
    return delivery && delivery.accountId === account && delivery.eventName === event ? viewOf(delivery) : undefined;
  }

  async function readBody(reference: DeliveryReference) {
    await requireDelivery(reference);
    return (await showDelivery.act(task, { id: reference.id, body: true })).body;
  }

  async function resend(reference: DeliveryReference) {
    await requireDelivery(reference);
    await resendDelivery.act(task, { id: reference.id });
  }

  /** Nothing is done to a delivery by the address of another webhook. */
  async function requireDelivery(reference: DeliveryReference) {
    if (await findDelivery(reference)) return;
    throw new NotThere(`The webhook of ${reference.account} for ${reference.event} has no delivery "${reference.id}".`);
  }

  async function replay({ state, since, until, ...asked }: ReplayRange) {
    return beginReplay(task, {
      ...registrationOf(asked),
      from: Date.parse(since),
      to: Date.parse(until),
      wanted: state === 'falhou' ? 'failed' : 'held',
    });
  }

  async function findReplay(webhook: WebhookReference, id?: string): Promise<ReplayView | undefined> {
    const { account, event } = registrationOf(webhook);
    const latest = await findLatestReplay(target, account, event);
    if (!latest || latest.isHidden || (id !== undefined && id !== latest.id)) return undefined;
    const { state, sent } = progressAt(latest, target.clock.now());
    const total = latest.countCursor === null ? latest.total : null;
    return { id: latest.id, isRunning: state === 'running', state: wireReplayStates[state], total, sent };
  }

  async function cancelReplay(webhook: WebhookReference, id: string) {
    await cancelBegun(task, { ...registrationOf(webhook), replay: id });
  }
}

/** The latest deliveries whose times are looked at. */
const mostTimed = 200;

/** The calls that a tally may make. */
const callsOfTally = 24;

function cursorAt(listKey: string | undefined): string | null {
  return listKey === undefined ? null : encodeCursor(listKey);
}

function registeredAs({ webhookId, createdAt }: WebhookView) {
  return webhookId && createdAt ? { webhookId, createdAt: Date.parse(createdAt) } : undefined;
}

function rowOf(delivery: Delivery): DeliveryRow {
  return deliveryRow({ account: delivery.accountId, event: delivery.eventName }, toDeliveryRecord(delivery));
}

function viewOf(delivery: Delivery): DeliveryView {
  return {
    ...rowOf(delivery),
    made: delivery.attempts.map(toAttemptRecord).map(attemptView),
    waitsFor: waitOf(delivery),
  };
}

/** Returns what the next attempt waits for, where that is not the schedule. */
function waitOf(delivery: Delivery): DeliveryView['waitsFor'] {
  const { wait, broughtForward } = delivery;
  if (!wait) return undefined;
  if (wait.slowLane !== undefined || wait.slotSeries !== undefined) return 'slow';
  if (broughtForward) return 'resend';
  return slotOf(delivery) === undefined ? undefined : 'replay';
}
