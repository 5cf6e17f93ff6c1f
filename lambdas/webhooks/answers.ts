import * as z from 'zod/mini';
import { webhookRecord } from './representation.ts';
import { eventNameSchema } from './webhook.ts';

/*
 * The answers of the API of webhooks, besides a webhook's record. Its functions import the types alone: the schemas are for those
 * who read answers, and for the OpenAPI document.
 */

/** An event that has no webhook, and when it last came, true to the hour. */
export const eventWithoutWebhook = z.object({ evento: eventNameSchema, ultimo_em: z.iso.datetime() });

export const webhookList = z.object({
  webhooks: z.array(webhookRecord),
  /** Events of the latest 30 days that no webhook takes now. */
  eventos_sem_webhook: z.array(eventWithoutWebhook),
});

/** A new signing secret. It is shown in this one answer. */
export const newSecret = z.object({ segredo: z.string() });

/** A webhook as its registration shows it: with its signing secret, in this one answer. */
export const registeredWebhook = z.extend(webhookRecord, { segredo: z.string() });
