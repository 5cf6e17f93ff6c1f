import type { Problem } from '../api/problem.ts';
import { isoTime } from '../platform/clock.ts';
import { webhookProblem } from './problems.ts';
import type { EventName } from './webhook.ts';

/** Reads when each event of an account last came without a webhook, in milliseconds since the epoch: by name, the latest 30 days. */
export type ReadWithoutWebhook = (accountId: string) => Promise<ReadonlyMap<EventName, number>>;

/** Makes the refusal for an event that has no webhook, which tells when that event last came in vain. */
export type WebhookNotFound = (accountId: string, eventName: EventName) => Promise<Problem>;

/** Returns the function that makes that refusal. */
export function makeWebhookNotFound(readWithoutWebhook: ReadWithoutWebhook): WebhookNotFound {
  return async function webhookNotFound(accountId, eventName) {
    const moment = (await readWithoutWebhook(accountId)).get(eventName);
    return webhookProblem('webhook_not_found', {
      members: moment === undefined ? {} : { ultimo_sem_webhook_em: isoTime(moment) },
    });
  };
}
