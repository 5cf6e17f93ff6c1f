import * as z from 'zod/mini';
import type { Item } from '../platform/aws/dynamo.ts';

/** The event names, as used in registrations, paths and deliveries. */
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

export function isEventName(text: string): text is EventName {
  return eventNameSchema.safeParse(text).success;
}

/** A signing secret of a webhook. Times are in milliseconds since the epoch. */
export type SigningSecret = Readonly<z.infer<typeof signingSecret>>;

/** The reason for a webhook's suspension, or `null` if it is not suspended. */
export type SuspensionReason = Webhook['suspensionReason'];

/** A stored webhook. Times are in milliseconds since the epoch. */
export type Webhook = Readonly<z.infer<typeof webhook>>;

/** Returns the key of an account's webhook for an event in the table `Webhooks`. */
export function webhookKey(accountId: string, eventName: EventName) {
  return { accountId, eventName };
}

/**
 * Parses a stored webhook and ignores unknown attributes.
 *
 * @throws {z.core.$ZodError} if the item is not a webhook.
 */
export function parseWebhook(item: unknown): Webhook {
  return webhook.parse(item);
}

/**
 * Parses a stored item as a webhook. Returns `undefined` for an item without a `webhookId`, which only stores an operator's suspension (see
 * `webhook-store.ts`).
 *
 * @throws {z.core.$ZodError} if the item is malformed.
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
  /** The time at which a newer secret replaced this one. A replaced secret still signs deliveries for 24 h. */
  replacedAt: z.optional(milliseconds),
});

const webhook = z.object({
  accountId: z.string(),
  eventName: eventNameSchema,
  /** The unique id of the registration. It prevents a registration from receiving the events of an earlier one. */
  webhookId: z.string(),
  /** The registered URL, which is validated on registration and on every attempt. */
  url: z.string(),
  /** The Authorization header's value, encrypted under `authorizationBinding`. */
  encryptedAuthorization: z.optional(z.string()),
  /** The secrets, newest first. The first one is the current secret. */
  secrets: z.array(signingSecret),
  status: z.enum(['active', 'suspended']),
  suspensionReason: z.nullable(z.enum(['gone', 'no_success', 'operator'])),
  /** The time of the latest URL change or reactivation. Results of earlier attempts no longer affect the webhook's health. */
  resetAt: z.optional(milliseconds),
  /** The time of the first failed attempt since the last registration, URL change, reactivation or success. */
  failingSince: z.optional(milliseconds),
  /** The duration of the failures at the last announcement, in milliseconds. */
  failingMark: z.optional(milliseconds),
  /** The start time of the failures that were announced last. It remains until a success is announced as a recovery. */
  announcedSince: z.optional(milliseconds),
  /** The time of the last requested test. */
  testedAt: z.optional(milliseconds),
  createdAt: milliseconds,
  updatedAt: milliseconds,
});
