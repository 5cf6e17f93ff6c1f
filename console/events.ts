const names = `demanda.criada demanda.cancelada demanda.finalizada proposta.recebida proposta.alteracao_valor_solicitado
  proposta.contratada mensagem.recebida reembolso.solicitado`;

/** The events that can have a webhook. A test compares them with the events in the API. */
export const eventNames: readonly string[] = names.split(/\s+/);
