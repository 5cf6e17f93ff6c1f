import type { ProblemTable } from '../../api/problem.ts';
import { webhookProblems } from '../../webhooks/problems.ts';

/** The refusals of what is asked of a webhook's deliveries. */
export const deliveryProblems = {
  delivery_not_found: {
    status: 404,
    code: 'delivery_not_found',
    en: 'There is no such delivery of this webhook, or it is past its time.',
    pt: 'Este webhook não tem essa entrega, ou o prazo em que ela fica guardada já passou.',
  },
  webhook_replaced: {
    status: 409,
    code: 'webhook_replaced',
    en: 'The delivery was for an earlier registration, and stays as it is.',
    pt: 'A entrega era de um cadastro anterior do webhook e permanece como está.',
  },
  test_delivery: {
    status: 409,
    code: 'test_delivery',
    en: 'A test is not sent again: ask for another one.',
    pt: 'Um teste não é reenviado: peça outro.',
  },
  tests_used_up: {
    status: 429,
    code: 'rate_limited',
    en: 'The account has used up its tests of this minute: wait as long as Retry-After says.',
    pt: 'A conta já usou todos os testes deste minuto: aguarde o tempo indicado em Retry-After.',
  },
  resends_used_up: {
    status: 429,
    code: 'rate_limited',
    en: 'The webhook has used up its resends of this minute: wait as Retry-After says.',
    pt: 'O webhook já usou todos os reenvios deste minuto: aguarde o tempo indicado em Retry-After.',
  },
  replay_not_found: {
    status: 404,
    code: 'replay_not_found',
    en: 'There is no such replay of this webhook, or it is deleted or past its time.',
    pt: 'Este webhook não tem esse reenvio, ou ele foi excluído, ou o prazo em que fica guardado já passou.',
  },
  replay_in_progress: {
    status: 409,
    code: 'replay_in_progress',
    en: 'A replay of this webhook is under way: wait for its end, or cancel it.',
    pt: 'Há um reenvio deste webhook em andamento: aguarde o fim dele ou cancele-o.',
  },
} as const satisfies ProblemTable;

/** All that the operations of deliveries refuse: their own, and those of the webhook. */
export const deliveryApiProblems = { ...webhookProblems, ...deliveryProblems };
