import * as z from 'zod/mini';
import { type Delivery, keptAttempts } from './delivery.ts';

const time = z.iso.datetime();

const result = z.enum(['entregue', 'http', 'tempo_esgotado', 'conexao', 'tls', 'dns', 'bloqueada', 'lenta', 'interno']);

/** A delivery as lists show it. */
export const deliveryRecord = z.object({
  id: z.string(),
  estado: z.enum(['pendente', 'entregue', 'falhou', 'retida', 'cancelada']),
  criado_em: time,
  proxima_tentativa_em: z.nullable(time),
  /** Attempts made so far. */
  tentativas: z.int().check(z.nonnegative()),
  /** Of the latest attempt; `null` before the first. */
  ultimo_resultado: z.nullable(result),
  /** The status code that the latest attempt was answered with, where it was. */
  ultimo_status: z.nullable(z.int()),
});

const attemptRecord = z.object({
  numero: z.int().check(z.positive()),
  iniciada_em: time,
  duracao_ms: z.int().check(z.nonnegative()),
  resultado: result,
  status: z.nullable(z.int()),
  resposta: z.nullable(z.string()),
});

/** A delivery as it is shown alone: with the body it sends, as that is signed, and its latest attempts. */
export const deliveryDetail = z.extend(deliveryRecord, { corpo: z.string(), tentativas: z.array(attemptRecord) });

/** A delivery as lists show it; times are RFC 3339 in UTC. */
export function toDeliveryRecord(delivery: Delivery): z.infer<typeof deliveryRecord> {
  const { id, state, createdAt, wait, attempt, attempts } = delivery;
  const latest = attempts.at(-1);
  return {
    id,
    estado: state,
    criado_em: iso(createdAt),
    proxima_tentativa_em: wait ? iso(wait.nextAttemptAt) : null,
    tentativas: attempt - 1,
    ultimo_resultado: latest?.resultado ?? null,
    ultimo_status: latest?.status ?? null,
  };
}

/** A delivery as it is shown alone. */
export function toDeliveryDetail(delivery: Delivery): z.infer<typeof deliveryDetail> {
  return {
    ...toDeliveryRecord(delivery),
    corpo: delivery.body,
    tentativas: delivery.attempts.slice(-keptAttempts),
  };
}

/**
 * A delivery as it is shown while `webhookId` is registered: what waits for a registration that is gone will never be sent,
 * and is cancelled at its turn.
 */
export function asShown(webhookId: string | undefined) {
  return (delivery: Delivery): Delivery => {
    if (delivery.state !== 'pendente' || delivery.webhookId === webhookId) return delivery;
    const { wait: _, ...rest } = delivery;
    return { ...rest, state: 'cancelada' };
  };
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}
