import * as z from 'zod/mini';
import { isoTime } from '../platform/clock.ts';
import {
  type AttemptRecord,
  type AttemptResult,
  type Delivery,
  type DeliveryState,
  maxStoredAttempts,
} from './delivery.ts';
import { failureCauses } from './failure-causes.ts';

export const wireStates = {
  pending: 'pendente',
  delivered: 'entregue',
  failed: 'falhou',
  held: 'retida',
  cancelled: 'cancelada',
} as const satisfies Record<DeliveryState, string>;

export const wireResults = {
  delivered: 'entregue',
  http: 'http',
  timeout: 'tempo_esgotado',
  connection: 'conexao',
  tls: 'tls',
  dns: 'dns',
  blocked: 'bloqueada',
  slow: 'lenta',
  internal: 'interno',
} as const satisfies Record<AttemptResult, string>;

export const wireReplayStates = {
  running: 'em_andamento',
  completed: 'concluido',
  cancelled: 'cancelado',
} as const;

export type WireState = (typeof wireStates)[DeliveryState];

export function stateFromWire(word: WireState): DeliveryState {
  return states[word];
}

const states = Object.fromEntries(Object.entries(wireStates).map(([state, word]) => [word, state])) as Record<
  WireState,
  DeliveryState
>;

const time = z.iso.datetime();

const result = z.enum(Object.values(wireResults));

export const deliveryRecord = z.object({
  id: z.string(),
  estado: z.enum(Object.values(wireStates)),
  criado_em: time,
  proxima_tentativa_em: z.nullable(time),
  /** The number of attempts made so far. */
  tentativas: z.int().check(z.nonnegative()),
  /** The result of the latest attempt, or `null` before the first attempt. */
  ultimo_resultado: z.nullable(result),
  /** The status code of the latest attempt, or `null` if it had no response. */
  ultimo_status: z.nullable(z.int()),
});

export const attemptRecord = z.object({
  numero: z.int().check(z.positive()),
  iniciada_em: time,
  duracao_ms: z.int().check(z.nonnegative()),
  resultado: result,
  /** The cause of a failure, or `null` if only `resultado` is known. */
  detalhe: z.nullable(z.enum(Object.values(failureCauses).map(({ word }) => word))),
  status: z.nullable(z.int()),
  resposta: z.nullable(z.string()),
});

/** A delivery in a list. Times are RFC 3339 in UTC. */
export type DeliveryRecord = z.infer<typeof deliveryRecord>;

/** A single delivery, with its signed body and its latest attempts. */
export const deliveryDetail = z.extend(deliveryRecord, { corpo: z.string(), tentativas: z.array(attemptRecord) });

export type DeliveryDetail = z.infer<typeof deliveryDetail>;

export function toDeliveryRecord(delivery: Delivery): DeliveryRecord {
  const { id, state, createdAt, wait, attempt, attempts } = delivery;
  const latest = attempts.at(-1);
  return {
    id,
    estado: wireStates[state],
    criado_em: isoTime(createdAt),
    proxima_tentativa_em: wait ? isoTime(wait.nextAttemptAt) : null,
    tentativas: attempt - 1,
    ultimo_resultado: latest ? wireResults[latest.result] : null,
    ultimo_status: latest?.status ?? null,
  };
}

export function toDeliveryDetail(delivery: Delivery): DeliveryDetail {
  return {
    ...toDeliveryRecord(delivery),
    corpo: delivery.body,
    tentativas: delivery.attempts.slice(-maxStoredAttempts).map(toAttemptRecord),
  };
}

/**
 * Returns the function that adjusts stored deliveries for the API. `webhookId` is the current registration. A pending delivery of another
 * registration appears as cancelled, because the consumer will cancel it when its attempt is due.
 */
export function toDisplayed(webhookId: string | undefined) {
  return function displayed(delivery: Delivery): Delivery {
    if (delivery.state !== 'pending' || delivery.webhookId === webhookId) return delivery;
    const { wait: _, ...rest } = delivery;
    return { ...rest, state: 'cancelled' };
  };
}

export function toAttemptRecord(attempt: AttemptRecord): z.infer<typeof attemptRecord> {
  return {
    numero: attempt.number,
    iniciada_em: attempt.startedAt,
    duracao_ms: attempt.durationMs,
    resultado: wireResults[attempt.result],
    detalhe: attempt.cause && failureCauses[attempt.cause].word,
    status: attempt.status,
    resposta: attempt.response,
  };
}
