import * as z from 'zod/mini';
import { webhookRecord } from './representation.ts';
import { eventNameSchema } from './webhook.ts';

/*
 * The responses of the webhooks API, except a webhook's record. Functions import only the types. The schemas are for the OpenAPI
 * document and for clients.
 */

/** An event without a webhook. `ultimo_em` is the time of its last occurrence, accurate to the hour. */
export const eventWithoutWebhook = z.object({ evento: eventNameSchema, ultimo_em: z.iso.datetime() });

export const webhookList = z.object({
  webhooks: z.array(webhookRecord),
  /** Events of the last 30 days that currently have no webhook. */
  eventos_sem_webhook: z.array(eventWithoutWebhook),
});

/** A new signing secret. Only this response contains it. */
export const newSecret = z.object({ segredo: z.string() });

/** A newly registered webhook. Only this response contains its signing secret. */
export const registeredWebhook = z.extend(webhookRecord, { segredo: z.string() });
