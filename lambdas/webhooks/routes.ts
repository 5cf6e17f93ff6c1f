import type { RequiredScope } from '../api/authorization.ts';
import type { ProblemTable } from '../api/problem.ts';
import type { RouteTable } from '../platform/route-table.ts';

/** The routes for registrations. `webhookProblems` defines their errors. */
export const webhookRoutes = {
  Webhooks: {
    path: '/v1/webhooks',
    throttle: 'management',
    operations: {
      listWebhooks: { method: 'GET', access: 'webhooks:read', errors: [] },
      registerWebhook: {
        method: 'POST',
        access: 'webhooks:manage',
        takesBody: true,
        errors: ['webhook_exists', 'registration_limit_reached'],
      },
    },
  },
  Webhook: {
    path: '/v1/webhooks/{evento}',
    throttle: 'management',
    operations: {
      getWebhook: { method: 'GET', access: 'webhooks:read', errors: ['webhook_not_found'] },
      replaceWebhook: {
        method: 'PUT',
        access: 'webhooks:manage',
        takesBody: true,
        errors: ['webhook_not_found', 'registration_limit_reached', 'concurrent_change'],
      },
      deleteWebhook: {
        method: 'DELETE',
        access: 'webhooks:manage',
        errors: ['webhook_not_found', 'concurrent_change'],
      },
    },
  },
  Secret: {
    path: '/v1/webhooks/{evento}/segredo',
    throttle: 'management',
    operations: {
      rotateSecret: {
        method: 'POST',
        access: 'webhooks:manage',
        takesBody: true,
        errors: ['webhook_not_found', 'too_many_secrets', 'concurrent_change'],
      },
    },
  },
  Reactivation: {
    path: '/v1/webhooks/{evento}/reativacao',
    throttle: 'management',
    operations: {
      reactivateWebhook: {
        method: 'POST',
        access: 'webhooks:manage',
        errors: ['webhook_not_found', 'suspended_by_operator'],
      },
    },
  },
} as const satisfies RouteTable<RequiredScope, keyof typeof webhookProblems>;

/** The errors of requests about a webhook. */
export const webhookProblems = {
  /** Also returned for an unknown event name. */
  webhook_not_found: {
    status: 404,
    en: 'There is no webhook for this event.',
    pt: 'Não há webhook para este evento.',
  },
  webhook_exists: {
    status: 409,
    en: 'The account already has a webhook for this event. Change it with PUT. For a new secret, POST to its path /segredo.',
    pt: 'A conta já tem um webhook para este evento: altere-o com PUT; para outro segredo, use POST no caminho /segredo dele.',
  },
  webhook_suspended: {
    status: 409,
    en: 'The webhook is suspended. Reactivate it first.',
    pt: 'O webhook está suspenso: reative-o antes.',
  },
  suspended_by_operator: {
    status: 409,
    en: 'An operator suspended this webhook. Only an operator can reactivate it.',
    pt: 'Um operador suspendeu este webhook: só um operador pode encerrar a suspensão.',
  },
  too_many_secrets: {
    status: 409,
    en: 'Four replaced secrets still sign. Wait for the time in Retry-After, or send imediato: true.',
    pt: 'Quatro segredos anteriores ainda assinam. Aguarde o tempo indicado em Retry-After ou envie imediato: true.',
  },
  registration_limit_reached: {
    status: 429,
    code: 'rate_limited',
    en: 'The account has reached its limit of registrations and replacements for this minute. Wait for the time in Retry-After.',
    pt: 'A conta já usou todos os cadastros e substituições deste minuto: aguarde o tempo indicado em Retry-After.',
  },
  concurrent_change: {
    status: 503,
    code: 'temporarily_unavailable',
    en: 'Other requests are changing this webhook. Try again.',
    pt: 'Outras requisições estão alterando este webhook: tente novamente.',
  },
} as const satisfies ProblemTable;
