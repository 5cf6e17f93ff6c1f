import { managing, managingByBody, type Resource, reading } from '../api/route.ts';
import type { makeOperations } from './operations.ts';

/** The paths of registrations, over the operations on them. */
export function makeWebhookResources(operations: ReturnType<typeof makeOperations>): readonly Resource[] {
  return [
    { path: '/v1/webhooks', methods: { GET: reading(operations.list), POST: managingByBody(operations.register) } },
    {
      path: '/v1/webhooks/{evento}',
      methods: {
        GET: reading(operations.show),
        PUT: managingByBody(operations.replace),
        DELETE: managing(operations.remove),
      },
    },
    { path: '/v1/webhooks/{evento}/segredo', methods: { POST: managingByBody(operations.rotateSecret) } },
    { path: '/v1/webhooks/{evento}/reativacao', methods: { POST: managing(operations.reactivate) } },
  ];
}
