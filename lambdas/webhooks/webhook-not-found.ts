import type { Problem } from '../api/problem.ts';
import type { RequestContext } from '../api/route.ts';
import { isoTime } from '../platform/clock.ts';
import { type EventName, isEventName } from './webhook.ts';

/** Reads when each event of an account last came without a webhook, in milliseconds since the epoch: by name, the latest 30 days. */
export type ReadWithoutWebhook = (accountId: string) => Promise<ReadonlyMap<EventName, number>>;

/** Makes the refusal for an event that has no webhook, which tells when that event last came in vain. */
export type WebhookNotFound = (context: RequestContext<'webhook_not_found'>, eventName: EventName) => Promise<Problem>;

/** Returns the function that makes that refusal. */
export function makeWebhookNotFound(readWithoutWebhook: ReadWithoutWebhook): WebhookNotFound {
  return async function webhookNotFound({ caller, refuse }, eventName) {
    const moment = (await readWithoutWebhook(caller.accountId)).get(eventName);
    return refuse('webhook_not_found', {
      members: moment === undefined ? {} : { ultimo_sem_webhook_em: isoTime(moment) },
    });
  };
}

/** Returns the event name in the path. @throws {Problem} 404 for an unknown one. */
export function requireEventName({ path, refuse }: RequestContext<'webhook_not_found'>): EventName {
  const { evento: eventName = '' } = path;
  if (!isEventName(eventName)) throw refuse('webhook_not_found');
  return eventName;
}
