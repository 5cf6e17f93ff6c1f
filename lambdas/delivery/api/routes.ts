import type { RequiredScope } from '../../api/authorization.ts';
import type { RouteTable } from '../../platform/route-table.ts';
import type { deliveryApiProblems } from './problems.ts';

/** The routes of a webhook's deliveries, tests and replays. */
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
        refusals: ['webhook_not_found', 'webhook_suspended', 'replay_in_progress'],
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
} as const satisfies RouteTable<RequiredScope, keyof typeof deliveryApiProblems | 'validation_failed'>;
