import * as z from 'zod/mini';
import { isoTime } from '../platform/clock.ts';
import { signsUntil } from './signing-secret.ts';
import { eventNameSchema, type SuspensionReason, type Webhook } from './webhook.ts';

export const wireStatuses = { active: 'ativo', suspended: 'suspenso' } as const satisfies Record<
  Webhook['status'],
  string
>;

export const wireReasons = {
  gone: 'gone',
  no_success: 'sem_sucesso',
  operator: 'operador',
} as const satisfies Record<NonNullable<SuspensionReason>, string>;

/** A replaced signing secret that still signs deliveries. */
export const replacedSecret = z.object({ valido_ate: z.iso.datetime() });

/** A webhook in responses. It never contains the value of `autorizacao` or a secret. */
export const webhookRecord = z.object({
  evento: eventNameSchema,
  url: z.string(),
  autorizacao_definida: z.boolean(),
  estado: z.enum(Object.values(wireStatuses)),
  motivo_suspensao: z.nullable(z.enum(Object.values(wireReasons))),
  /** The start of the failures if every attempt since then has failed. */
  falhando_desde: z.nullable(z.iso.datetime()),
  /** The start of the event's current time in the slow lane. A new registration does not change it. */
  lento_desde: z.nullable(z.iso.datetime()),
  /** The replaced signing secrets that still sign, newest first. */
  segredos_anteriores: z.array(replacedSecret),
  criado_em: z.iso.datetime(),
  atualizado_em: z.iso.datetime(),
});

/** A webhook in responses. Times are RFC 3339 in UTC. */
export type WebhookRecord = z.infer<typeof webhookRecord>;

/**
 * Returns the record of a stored webhook. `now` determines which replaced secrets still sign.
 *
 * @param slowSince - the time at which the event moved to the slow lane, if it uses this lane.
 */
export function toWebhookRecord(stored: Webhook, slowSince: number | undefined, now: number): WebhookRecord {
  return {
    evento: stored.eventName,
    url: stored.url,
    autorizacao_definida: stored.encryptedAuthorization !== undefined,
    estado: wireStatuses[stored.status],
    motivo_suspensao: stored.suspensionReason && wireReasons[stored.suspensionReason],
    falhando_desde: isoOrNull(stored.failingSince),
    lento_desde: isoOrNull(slowSince),
    segredos_anteriores: stored.secrets
      .map(signsUntil)
      .filter(until => until > now && until !== Number.POSITIVE_INFINITY)
      .map(until => ({ valido_ate: isoTime(until) })),
    criado_em: isoTime(stored.createdAt),
    atualizado_em: isoTime(stored.updatedAt),
  };
}

function isoOrNull(time: number | undefined): string | null {
  return time === undefined ? null : isoTime(time);
}
