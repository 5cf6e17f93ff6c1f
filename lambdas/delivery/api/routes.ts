import type { RequiredScope } from '../../api/authorization.ts';
import type { ProblemTable } from '../../api/problem.ts';
import type { RouteTable } from '../../platform/route-table.ts';
import type { webhookProblems } from '../../webhooks/routes.ts';

export const deliveryRoutes = {
  Test: {
    path: '/v1/webhooks/{evento}/teste',
    throttle: 'management',
    operations: {
      sendTest: {
        method: 'POST',
        access: 'webhooks:manage',
        errors: ['webhook_not_found', 'suspended_by_operator', 'test_limit_reached'],
      },
    },
  },
  Deliveries: {
    path: '/v1/webhooks/{evento}/entregas',
    throttle: 'management',
    operations: {
      listDeliveries: { method: 'GET', access: 'webhooks:read', errors: ['webhook_not_found', 'validation_failed'] },
    },
  },
  Delivery: {
    path: '/v1/webhooks/{evento}/entregas/{id}',
    throttle: 'management',
    operations: {
      getDelivery: { method: 'GET', access: 'webhooks:read', errors: ['webhook_not_found', 'delivery_not_found'] },
    },
  },
  Resend: {
    path: '/v1/webhooks/{evento}/entregas/{id}/reenvio',
    throttle: 'management',
    operations: {
      resendDelivery: {
        method: 'POST',
        access: 'webhooks:manage',
        errors: [
          'webhook_not_found',
          'delivery_not_found',
          'webhook_suspended',
          'webhook_replaced',
          'test_delivery',
          'resend_limit_reached',
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
        errors: ['webhook_not_found', 'webhook_suspended', 'replay_in_progress', 'concurrent_change'],
      },
    },
  },
  Replay: {
    path: '/v1/webhooks/{evento}/reenvios/{id}',
    throttle: 'management',
    operations: {
      getReplay: { method: 'GET', access: 'webhooks:read', errors: ['webhook_not_found', 'replay_not_found'] },
      cancelReplay: {
        method: 'DELETE',
        access: 'webhooks:manage',
        errors: ['webhook_not_found', 'replay_not_found'],
      },
    },
  },
} as const satisfies RouteTable<
  RequiredScope,
  keyof typeof webhookProblems | keyof typeof deliveryProblems | 'validation_failed'
>;

export const deliveryProblems = {
  delivery_not_found: {
    status: 404,
    en: 'This webhook has no such delivery, or the delivery has expired.',
    pt: 'Este webhook não tem essa entrega, ou o prazo em que ela fica guardada já passou.',
  },
  webhook_replaced: {
    status: 409,
    en: 'The delivery belongs to an earlier registration of the webhook and cannot be resent.',
    pt: 'A entrega era de um cadastro anterior do webhook e permanece como está.',
  },
  test_delivery: {
    status: 409,
    en: 'A test cannot be resent. Request another test.',
    pt: 'Um teste não é reenviado: peça outro.',
  },
  test_limit_reached: {
    status: 429,
    code: 'rate_limited',
    en: 'The account has reached its limit of tests for this minute. Wait for the time in Retry-After.',
    pt: 'A conta já usou todos os testes deste minuto: aguarde o tempo indicado em Retry-After.',
  },
  resend_limit_reached: {
    status: 429,
    code: 'rate_limited',
    en: 'The webhook has reached its limit of resends for this minute. Wait for the time in Retry-After.',
    pt: 'O webhook já usou todos os reenvios deste minuto: aguarde o tempo indicado em Retry-After.',
  },
  replay_not_found: {
    status: 404,
    en: 'This webhook has no such replay, or the replay was deleted or has expired.',
    pt: 'Este webhook não tem esse reenvio, ou ele foi excluído, ou o prazo em que fica guardado já passou.',
  },
  replay_in_progress: {
    status: 409,
    en: 'A replay of this webhook is in progress. Wait until it ends, or cancel it.',
    pt: 'Há um reenvio deste webhook em andamento: aguarde o fim dele ou cancele-o.',
  },
} as const satisfies ProblemTable;
