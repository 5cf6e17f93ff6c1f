import * as z from 'zod/mini';
import type { Item } from '../platform/aws/dynamo.ts';

/** The events that a webhook can be registered for; registrations, paths and deliveries use these names. */
export const EVENT_NAMES = [
  'demanda.criada',
  'demanda.cancelada',
  'demanda.finalizada',
  'proposta.recebida',
  'proposta.alteracao_valor_solicitado',
  'proposta.contratada',
  'mensagem.recebida',
  'reembolso.solicitado',
] as const;

export const eventNameSchema = z.enum(EVENT_NAMES);

export type EventName = z.infer<typeof eventNameSchema>;

/** Returns whether a text is exactly one of the event names. */
export function isEventName(text: string): text is EventName {
  return eventNameSchema.safeParse(text).success;
}

/** One signing secret of a webhook; times in milliseconds since the epoch. */
export type SigningSecret = Readonly<z.infer<typeof signingSecret>>;

/** The reason why a webhook is suspended; `null` while it is not. */
export type SuspensionReason = Webhook['suspensionReason'];

/** A registered webhook as it is stored; times in milliseconds since the epoch. */
export type Webhook = Readonly<z.infer<typeof webhook>>;

/** Returns the key of an account's webhook for an event in the table `Webhooks`. */
export function webhookKey(accountId: string, eventName: EventName) {
  return { accountId, eventName };
}

/**
 * Reads a stored item, ignoring attributes that are not the webhook's own.
 *
 * @throws {z.core.$ZodError} when the item is not a webhook.
 */
export function parseWebhook(item: unknown): Webhook {
  return webhook.parse(item);
}

/**
 * Reads a stored item as a webhook. An item without a `webhookId` is none: it only holds an operator's suspension of whatever
 * will be registered for that account and event (see `webhook-store.ts`).
 *
 * @throws {z.core.$ZodError} when the item is something else.
 */
export function webhookIn(item: Item | undefined): Webhook | undefined {
  return item?.webhookId === undefined ? undefined : parseWebhook(item);
}

/** Returns the binding of an encrypted `autorizacao` (see `encryption.ts`). */
export function authorizationBinding(accountId: string, eventName: EventName): string {
  return `${accountId}/${eventName}/autorizacao`;
}

/** Returns the binding of an encrypted signing secret (see `encryption.ts`). */
export function secretBinding(accountId: string, eventName: EventName): string {
  return `${accountId}/${eventName}/segredo`;
}

const milliseconds = z.int().check(z.nonnegative());

const signingSecret = z.object({
  /** The `whsec_…` text, encrypted under `secretBinding`. */
  encrypted: z.string(),
  createdAt: milliseconds,
  /** The moment when a newer secret replaced it; it still signs for a while after that. */
  replacedAt: z.optional(milliseconds),
});

const webhook = z.object({
  accountId: z.string(),
  eventName: eventNameSchema,
  /** New with each registration, so that a registration never gets the events of an earlier one. */
  webhookId: z.string(),
  /** As registered. It is validated at registration and again at every attempt. */
  url: z.string(),
  /** The Authorization header's value, encrypted under `authorizationBinding`. */
  encryptedAuthorization: z.optional(z.string()),
  /** Newest first; the first is the current one. */
  secrets: z.array(signingSecret),
  status: z.enum(['active', 'suspended']),
  suspensionReason: z.nullable(z.enum(['gone', 'no_success', 'operator'])),
  /** The moment of the latest other URL or reactivation. What an earlier attempt says of the webhook counts no more. */
  resetAt: z.optional(milliseconds),
  /** The moment when the first attempt failed since the last registration, other URL, reactivation or success. */
  failingSince: z.optional(milliseconds),
  /** The time that the webhook had been failing when that was last announced, in milliseconds. */
  failingMark: z.optional(milliseconds),
  /** Since when the failure lasted that was announced last. It stays until a success, whose recovery is announced. */
  announcedSince: z.optional(milliseconds),
  /** The moment when a test was last requested. */
  testedAt: z.optional(milliseconds),
  createdAt: milliseconds,
  updatedAt: milliseconds,
});
