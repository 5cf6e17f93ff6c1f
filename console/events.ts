import type { EventName } from '../lambdas/webhooks/webhook.ts';

/** The events that can have a webhook. Its type fails the build if one is missing. */
const events: Readonly<Record<EventName, true>> = {
  'demanda.criada': true,
  'demanda.cancelada': true,
  'demanda.finalizada': true,
  'proposta.recebida': true,
  'proposta.alteracao_valor_solicitado': true,
  'proposta.contratada': true,
  'mensagem.recebida': true,
  'reembolso.solicitado': true,
};

export const eventNames: readonly string[] = Object.keys(events);
