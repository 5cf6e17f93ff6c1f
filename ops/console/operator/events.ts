import { deliveryIdOf } from '../../../lambdas/delivery/intake/event.ts';
import { isoTime } from '../../../lambdas/platform/clock.ts';
import { type AccountEvent, listAccountEvents } from '../../deliveries/account-events.ts';
import { type EventReference, findPublished } from '../../deliveries/events.ts';
import { findRequest as findInLogs } from '../../deliveries/requests.command.ts';
import type { LoggedLine } from '../../stage/cloudwatch.ts';
import type { Task } from '../../stage/target.ts';
import { eventName } from './event-name.ts';

/** Makes the part of an operator's source that says what became of events and requests. */
export function operatorEvents(task: Task) {
  return { listEvents, findEvent, findRequest };

  async function listEvents(account: string) {
    const { events, logSince } = await listAccountEvents(task, { account, limit: 50 });
    return { since: isoTime(logSince), events: events.map(eventView) };
  }

  async function findEvent(wanted: FindQuery) {
    const { verdict, why, delivery, messageId, logSince } = await findPublished(task, referenceOf(wanted));
    return {
      verdict,
      why,
      messageId,
      delivery: delivery && { account: delivery.accountId, event: delivery.eventName, id: delivery.id },
      searchedSince: logSince === undefined ? undefined : isoTime(logSince),
    };
  }

  async function findRequest(id: string) {
    const { access, lines } = await findInLogs.act(task, { id });
    return [...(access ? [access] : []), ...lines].map(lineView);
  }
}

/** The events that came for an account, the newest first. */
export type EventsView = Awaited<ReturnType<ReturnType<typeof operatorEvents>['listEvents']>>;

/** The choice of an event: any id, or what its publisher knows of it. */
interface FindQuery {
  readonly id: string;
  readonly account?: string | undefined;
  readonly event?: string | undefined;
}

function eventView({ at, eventName, deliveryId, messageId, verdict, why }: AccountEvent) {
  return { at: isoTime(at), event: eventName ?? '–', id: deliveryId ?? messageId ?? '–', fate: verdict, why };
}

/** Returns the event that any of its ids names, or its publisher's id with the account and the event. */
function referenceOf({ id, account, event }: FindQuery): EventReference {
  if (account !== undefined && event !== undefined) {
    return { deliveryId: deliveryIdOf(account, eventName(event), id) };
  }
  return id.startsWith('evt_') || id.startsWith('teste_') ? { deliveryId: id } : { messageId: id };
}

function lineView({ at, fields }: LoggedLine) {
  return { at: isoTime(at), text: JSON.stringify(fields, null, 1) };
}
