import * as z from 'zod/mini';
import type { Delivery } from './delivery.ts';

const time = z.iso.datetime();

/** A delivery as lists show it. */
export const deliveryRecord = z.object({
  id: z.string(),
  estado: z.enum(['pendente', 'entregue', 'falhou', 'retida', 'cancelada']),
  criado_em: time,
  proxima_tentativa_em: z.nullable(time),
  /** Attempts made so far. */
  tentativas: z.int().check(z.nonnegative()),
});

const attemptRecord = z.object({
  numero: z.int().check(z.positive()),
  iniciada_em: time,
  duracao_ms: z.int().check(z.nonnegative()),
  resultado: z.enum(['entregue', 'http', 'tempo_esgotado', 'conexao', 'tls', 'dns', 'bloqueada', 'lenta', 'interno']),
  status: z.nullable(z.int()),
  resposta: z.nullable(z.string()),
});

/** A delivery as it is shown alone: with the body it sends, as that is signed, and its latest attempts. */
export const deliveryDetail = z.extend(deliveryRecord, { corpo: z.string(), tentativas: z.array(attemptRecord) });

const iso = (moment: number): string => new Date(moment).toISOString();

/** A delivery as lists show it; times are RFC 3339 in UTC. */
export const toDeliveryRecord = ({
  id,
  state,
  createdAt,
  wait,
  attempt,
}: Delivery): z.infer<typeof deliveryRecord> => ({
  id,
  estado: state,
  criado_em: iso(createdAt),
  proxima_tentativa_em: wait ? iso(wait.nextAttemptAt) : null,
  tentativas: attempt - 1,
});

/** A delivery as it is shown alone. */
export const toDeliveryDetail = (delivery: Delivery): z.infer<typeof deliveryDetail> => ({
  ...toDeliveryRecord(delivery),
  corpo: delivery.body,
  tentativas: [...delivery.attempts],
});
