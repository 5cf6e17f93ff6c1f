import * as z from 'zod/mini';
import { signsUntil } from './signing-secret.ts';
import { eventNameSchema, type SuspensionReason, type Webhook } from './webhook.ts';

/** Whether a webhook gets its events, as the wire calls it. */
export const wireStatuses = { active: 'ativo', suspended: 'suspenso' } as const satisfies Record<
  Webhook['status'],
  string
>;

/** Why a webhook is suspended, as the wire calls it. */
export const wireReasons = {
  gone: 'gone',
  no_success: 'sem_sucesso',
  operator: 'operador',
} as const satisfies Record<NonNullable<SuspensionReason>, string>;

/** A webhook as responses show it: neither the value of `autorizacao` nor a secret ever comes back. */
export const webhookRecord = z.object({
  evento: eventNameSchema,
  url: z.string(),
  autorizacao_definida: z.boolean(),
  estado: z.enum(Object.values(wireStatuses)),
  motivo_suspensao: z.nullable(z.enum(Object.values(wireReasons))),
  /** The replaced signing secrets that sign too, the one replaced last first, and until when. */
  segredos_anteriores: z.array(z.object({ valido_ate: z.iso.datetime() })),
  criado_em: z.iso.datetime(),
  atualizado_em: z.iso.datetime(),
});

/** A webhook as responses show it; times are RFC 3339 in UTC. */
export type WebhookRecord = z.infer<typeof webhookRecord>;

/** The record that responses show of a stored webhook at that moment. */
export function toRecord(stored: Webhook, now: number): WebhookRecord {
  return {
    evento: stored.eventName,
    url: stored.url,
    autorizacao_definida: stored.sealedAuthorization !== undefined,
    estado: wireStatuses[stored.status],
    motivo_suspensao: stored.suspensionReason && wireReasons[stored.suspensionReason],
    segredos_anteriores: stored.secrets
      .map(signsUntil)
      .filter(until => until > now && until !== Number.POSITIVE_INFINITY)
      .map(until => ({ valido_ate: iso(until) })),
    criado_em: iso(stored.createdAt),
    atualizado_em: iso(stored.updatedAt),
  };
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}
