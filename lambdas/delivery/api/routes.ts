import type { RequiredScope } from '../../api/authorization.ts';
import type { RouteTable } from '../../platform/route-table.ts';

/** The routes of a webhook's deliveries, tests and replays. */
export const deliveryRoutes = {
  Test: {
    path: '/v1/webhooks/{evento}/teste',
    throttle: 'management',
    operations: { sendTest: { method: 'POST', access: 'webhooks:manage' } },
  },
  Deliveries: {
    path: '/v1/webhooks/{evento}/entregas',
    throttle: 'management',
    operations: { listDeliveries: { method: 'GET', access: 'webhooks:read' } },
  },
  Delivery: {
    path: '/v1/webhooks/{evento}/entregas/{id}',
    throttle: 'management',
    operations: { getDelivery: { method: 'GET', access: 'webhooks:read' } },
  },
  Resend: {
    path: '/v1/webhooks/{evento}/entregas/{id}/reenvio',
    throttle: 'management',
    operations: { resendDelivery: { method: 'POST', access: 'webhooks:manage' } },
  },
  Replays: {
    path: '/v1/webhooks/{evento}/reenvios',
    throttle: 'management',
    operations: { startReplay: { method: 'POST', access: 'webhooks:manage', takesBody: true } },
  },
  Replay: {
    path: '/v1/webhooks/{evento}/reenvios/{id}',
    throttle: 'management',
    operations: {
      getReplay: { method: 'GET', access: 'webhooks:read' },
      cancelReplay: { method: 'DELETE', access: 'webhooks:manage' },
    },
  },
} as const satisfies RouteTable<RequiredScope>;
