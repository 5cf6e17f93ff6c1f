import type { AttemptRecord, DeliveryRecord } from './api-answers.ts';
import type { AttemptView, DeliveryRow } from './views.ts';

/** Returns a delivery of the wire as pages list it. */
export function deliveryRow(
  { account, event }: { readonly account: string; readonly event: string },
  record: DeliveryRecord,
): DeliveryRow {
  return {
    id: record.id,
    account,
    event,
    state: record.estado,
    createdAt: record.criado_em,
    nextAttemptAt: record.proxima_tentativa_em,
    attempts: record.tentativas,
    lastResult: record.ultimo_resultado,
    lastStatus: record.ultimo_status,
  };
}

/** Returns an attempt of the wire as pages show it. */
export function attemptView(record: AttemptRecord): AttemptView {
  const { numero, iniciada_em, duracao_ms, resultado, status, resposta } = record;
  return {
    number: numero,
    startedAt: iniciada_em,
    durationMs: duracao_ms,
    result: resultado,
    status,
    answer: resposta,
  };
}
