import type { RequiredScope } from '../../api/authorization.ts';
import type { ProblemTable } from '../../api/problem.ts';
import type { RouteTable } from '../../platform/route-table.ts';
import type { webhookProblems } from '../../webhooks/routes.ts';

/** The routes of a webhook's deliveries, tests and replays, and below what they refuse. */
export const deliveryRoutes = {
  Test: {
    path: '/v1/webhooks/{evento}/teste',
    throttle: 'management',
    operations: {
      sendTest: {
        method: 'POST',
        access: 'webhooks:manage',
        refusals: ['webhook_not_found', 'suspended_by_operator', 'tests_used_up'],
      },
    },
  },
  Deliveries: {
    path: '/v1/webhooks/{evento}/entregas',
    throttle: 'management',
    operations: {
      listDeliveries: { method: 'GET', access: 'webhooks:read', refusals: ['webhook_not_found', 'validation_failed'] },
    },
  },
  Delivery: {
    path: '/v1/webhooks/{evento}/entregas/{id}',
    throttle: 'management',
    operations: {
      getDelivery: { method: 'GET', access: 'webhooks:read', refusals: ['webhook_not_found', 'delivery_not_found'] },
    },
  },
  Resend: {
    path: '/v1/webhooks/{evento}/entregas/{id}/reenvio',
    throttle: 'management',
    operations: {
      resendDelivery: {
        method: 'POST',
        access: 'webhooks:manage',
        refusals: [
          'webhook_not_found',
          'delivery_not_found',
          'webhook_suspended',
          'webhook_replaced',
          'test_delivery',
          'resends_used_up',
        ],
      },
    },
  },
  Replays: {
    path: '/v1/webhooks/{evento}/reenvios',
    throttle: 'management',
    operations: {
      startReplay: {
        method: 'POST',
        access: 'webhooks:manage',
        takesBody: true,
        refusals: ['webhook_not_found', 'webhook_suspended', 'replay_in_progress', 'contended'],
      },
    },
  },
  Replay: {
    path: '/v1/webhooks/{evento}/reenvios/{id}',
    throttle: 'management',
    operations: {
      getReplay: { method: 'GET', access: 'webhooks:read', refusals: ['webhook_not_found', 'replay_not_found'] },
      cancelReplay: {
        method: 'DELETE',
        access: 'webhooks:manage',
        refusals: ['webhook_not_found', 'replay_not_found'],
      },
    },
  },
} as const satisfies RouteTable<
  RequiredScope,
  keyof typeof webhookProblems | keyof typeof deliveryProblems | 'validation_failed'
>;

/** The refusals of what is asked of a webhook's deliveries. */
export const deliveryProblems = {
  delivery_not_found: {
    status: 404,
    en: 'There is no such delivery of this webhook, or it is past its time.',
    pt: 'Este webhook não tem essa entrega, ou o prazo em que ela fica guardada já passou.',
  },
  webhook_replaced: {
    status: 409,
    en: 'The delivery was for an earlier registration, and stays as it is.',
    pt: 'A entrega era de um cadastro anterior do webhook e permanece como está.',
  },
  test_delivery: {
    status: 409,
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
    en: 'There is no such replay of this webhook, or it is deleted or past its time.',
    pt: 'Este webhook não tem esse reenvio, ou ele foi excluído, ou o prazo em que fica guardado já passou.',
  },
  replay_in_progress: {
    status: 409,
    en: 'A replay of this webhook is under way: wait for its end, or cancel it.',
    pt: 'Há um reenvio deste webhook em andamento: aguarde o fim dele ou cancele-o.',
  },
} as const satisfies ProblemTable;
