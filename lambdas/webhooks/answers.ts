import * as z from 'zod/mini';
import { webhookRecord } from './representation.ts';

/*
 * The answers of the API of webhooks, besides a webhook's record. Its functions import the types alone: the schemas are for those
 * who read answers, and for the OpenAPI document.
 */

/** The webhooks of an account. */
export const webhookList = z.object({ webhooks: z.array(webhookRecord) });

/** A new signing secret. It is shown in this one answer. */
export const newSecret = z.object({ segredo: z.string() });

/** A webhook as its registration shows it: with its signing secret, in this one answer. */
export const registeredWebhook = z.extend(webhookRecord, { segredo: z.string() });
