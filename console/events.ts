const names = `demanda.criada demanda.cancelada demanda.finalizada proposta.recebida proposta.alteracao_valor_solicitado
  proposta.contratada mensagem.recebida reembolso.solicitado`;

/** The events that can have a webhook. A test checks that they are the events of the API. */
export const eventNames: readonly string[] = names.split(/\s+/);
