import type { RequiredScope } from '../api/authorization.ts';
import type { RouteTable } from '../platform/route-table.ts';

/** The routes of registrations. */
export const webhookRoutes = {
  Webhooks: {
    path: '/v1/webhooks',
    throttle: 'management',
    operations: {
      listWebhooks: { method: 'GET', access: 'webhooks:read' },
      registerWebhook: { method: 'POST', access: 'webhooks:manage', takesBody: true },
    },
  },
  Webhook: {
    path: '/v1/webhooks/{evento}',
    throttle: 'management',
    operations: {
      getWebhook: { method: 'GET', access: 'webhooks:read' },
      replaceWebhook: { method: 'PUT', access: 'webhooks:manage', takesBody: true },
      deleteWebhook: { method: 'DELETE', access: 'webhooks:manage' },
    },
  },
  Secret: {
    path: '/v1/webhooks/{evento}/segredo',
    throttle: 'management',
    operations: { rotateSecret: { method: 'POST', access: 'webhooks:manage', takesBody: true } },
  },
  Reactivation: {
    path: '/v1/webhooks/{evento}/reativacao',
    throttle: 'management',
    operations: { reactivateWebhook: { method: 'POST', access: 'webhooks:manage' } },
  },
} as const satisfies RouteTable<RequiredScope>;
