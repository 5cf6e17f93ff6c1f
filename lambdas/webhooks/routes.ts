import type { RequiredScope } from '../api/authorization.ts';
import type { RouteTable } from '../platform/route-table.ts';
import type { webhookProblems } from './problems.ts';

/** The routes of registrations. */
export const webhookRoutes = {
  Webhooks: {
    path: '/v1/webhooks',
    throttle: 'management',
    operations: {
      listWebhooks: { method: 'GET', access: 'webhooks:read', refusals: [] },
      registerWebhook: { method: 'POST', access: 'webhooks:manage', takesBody: true, refusals: ['webhook_exists'] },
    },
  },
  Webhook: {
    path: '/v1/webhooks/{evento}',
    throttle: 'management',
    operations: {
      getWebhook: { method: 'GET', access: 'webhooks:read', refusals: ['webhook_not_found'] },
      replaceWebhook: {
        method: 'PUT',
        access: 'webhooks:manage',
        takesBody: true,
        refusals: ['webhook_not_found', 'contended'],
      },
      deleteWebhook: { method: 'DELETE', access: 'webhooks:manage', refusals: ['webhook_not_found', 'contended'] },
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
        refusals: ['webhook_not_found', 'too_many_secrets', 'contended'],
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
        refusals: ['webhook_not_found', 'suspended_by_operator'],
      },
    },
  },
} as const satisfies RouteTable<RequiredScope, keyof typeof webhookProblems>;
