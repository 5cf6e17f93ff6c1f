import * as z from 'zod/mini';

/** The events that a webhook can be registered for, by the name that registrations, paths and deliveries use. */
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

/** The event names as a schema. */
export const eventName = z.enum(EVENT_NAMES);

/** One of the event names. */
export type EventName = z.infer<typeof eventName>;

/** Whether a text is one of the event names, in exactly this spelling. */
export const isEventName = (text: string): text is EventName => eventName.safeParse(text).success;

const milliseconds = z.int().check(z.nonnegative());

const signingSecret = z.object({
  /** The `whsec_…` text, sealed under `secretBinding`. */
  sealed: z.string(),
  createdAt: milliseconds,
  /** When a newer secret took its place; it signs too for a while after that. */
  replacedAt: z.optional(milliseconds),
});

/** One signing secret of a webhook; times in milliseconds since the epoch. */
export type SigningSecret = Readonly<z.infer<typeof signingSecret>>;

const webhook = z.object({
  accountId: z.string(),
  evento: eventName,
  /** New with each registration, so that a later one never gets an earlier one's events. */
  webhookId: z.string(),
  /** As registered. It was judged then, and is judged again at every attempt. */
  url: z.string(),
  /** The Authorization header's value, sealed under `authorizationBinding`. */
  sealedAuthorization: z.optional(z.string()),
  /** Newest first; the first one is the current one. */
  secrets: z.array(signingSecret),
  status: z.enum(['ativo', 'suspenso']),
  suspensionReason: z.nullable(z.enum(['gone', 'sem_sucesso', 'operador'])),
  /** The first failed attempt since the last registration, replacement, reactivation or success. */
  failingSince: z.optional(milliseconds),
  createdAt: milliseconds,
  updatedAt: milliseconds,
});

/** A registered webhook as it is stored; times in milliseconds since the epoch. */
export type Webhook = Readonly<z.infer<typeof webhook>>;

/** The key of an account's webhook for an event in the table `Webhooks`. */
export const webhookKey = (accountId: string, evento: EventName) => ({ accountId, evento });

/**
 * Reads a stored item, ignoring attributes that are not the webhook's own.
 *
 * @throws {z.core.$ZodError} when the item is not a webhook.
 */
export const parseWebhook = (item: unknown): Webhook => webhook.parse(item);

/** What a sealed `autorizacao` is bound to. */
export const authorizationBinding = (accountId: string, evento: EventName): string =>
  `${accountId}/${evento}/autorizacao`;

/** What a sealed signing secret is bound to. */
export const secretBinding = (accountId: string, evento: EventName): string => `${accountId}/${evento}/segredo`;

/** A webhook as responses show it: neither the value of `autorizacao` nor a secret ever comes back. */
export const webhookRecord = z.object({
  evento: eventName,
  url: z.string(),
  autorizacao_definida: z.boolean(),
  estado: z.enum(['ativo', 'suspenso']),
  motivo_suspensao: z.nullable(z.enum(['gone', 'sem_sucesso', 'operador'])),
  criado_em: z.iso.datetime(),
  atualizado_em: z.iso.datetime(),
});

/** A webhook as responses show it; times are RFC 3339 in UTC. */
export type WebhookRecord = z.infer<typeof webhookRecord>;

/** The record that responses show of a stored webhook. */
export const toRecord = (stored: Webhook): WebhookRecord => ({
  evento: stored.evento,
  url: stored.url,
  autorizacao_definida: stored.sealedAuthorization !== undefined,
  estado: stored.status,
  motivo_suspensao: stored.suspensionReason,
  criado_em: new Date(stored.createdAt).toISOString(),
  atualizado_em: new Date(stored.updatedAt).toISOString(),
});
