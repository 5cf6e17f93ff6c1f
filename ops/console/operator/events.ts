import { deliveryIdOf } from '../../../lambdas/delivery/intake/event.ts';
import { isoTime } from '../../../lambdas/platform/clock.ts';
import { type AccountEvent, listAccountEvents } from '../../deliveries/account-events.ts';
import type { EventVerdict } from '../../deliveries/event-verdict.ts';
import { type EventReference, findPublished } from '../../deliveries/events.ts';
import type { Task } from '../../stage/target.ts';
import { eventName } from './event-name.ts';

/** Makes the part of an operator's source that says what became of events. */
export function operatorEvents(task: Task) {
  return { listEvents, findEvent };

  /** The latest events, or those among more of them that had one fate. */
  async function listEvents(account: string, fate?: EventVerdict) {
    const limit = fate === undefined ? mostShown : mostFiltered;
    const { events, since, logSince, isCutOff, queued } = await listAccountEvents(task, { account, limit });
    const wanted = events.filter(({ verdict }) => fate === undefined || verdict === fate);
    return {
      /** The time from which events are listed, and the one from which the log tells of those that became no delivery. */
      since: isoTime(since),
      logSince: isoTime(logSince),
      looked: events.length,
      isCutOff,
      queued,
      found: wanted.length,
      events: wanted.slice(0, mostShown).map(eventView),
    };
  }

  async function findEvent(wanted: FindQuery) {
    const { verdict, cause, delivery, logSince } = await findPublished(task, referenceOf(wanted));
    return {
      verdict,
      cause,
      delivery: delivery && { account: delivery.accountId, event: delivery.eventName, id: delivery.id },
      searchedSince: logSince === undefined ? undefined : isoTime(logSince),
    };
  }
}

/** The events that came for an account, the newest first. */
export type EventsView = Awaited<ReturnType<ReturnType<typeof operatorEvents>['listEvents']>>;

/** The choice of an event: one of its ids, or its publisher's id with the account and the event. */
interface FindQuery {
  readonly id: string;
  readonly account?: string | undefined;
  readonly event?: string | undefined;
}

function eventView({ at, eventName, verdict, ...event }: AccountEvent) {
  const { deliveryId, messageId, cause } = event;
  return { at: isoTime(at), event: eventName, deliveryId, messageId, fate: verdict, cause };
}

/** The events that are shown at once: their page stays under 100 kB. */
export const mostShown = 40;

/** The latest events among which those of one fate are looked for. */
const mostFiltered = 200;

/** Returns the event that any of its ids names, or its publisher's id with the account and the event. */
function referenceOf({ id, account, event }: FindQuery): EventReference {
  if (account !== undefined && event !== undefined) {
    return { deliveryId: deliveryIdOf(account, eventName(event), id) };
  }
  return id.startsWith('evt_') || id.startsWith('teste_') ? { deliveryId: id } : { messageId: id };
}
