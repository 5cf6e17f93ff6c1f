import { manageEndpoint, manageEndpointWithBody, type Resource, readEndpoint } from '../api/route.ts';
import type { makeOperations } from './operations.ts';

/** The paths of registrations, over the operations on them. */
export function makeWebhookResources(operations: ReturnType<typeof makeOperations>): readonly Resource[] {
  return [
    {
      path: '/v1/webhooks',
      methods: { GET: readEndpoint(operations.list), POST: manageEndpointWithBody(operations.register) },
    },
    {
      path: '/v1/webhooks/{evento}',
      methods: {
        GET: readEndpoint(operations.show),
        PUT: manageEndpointWithBody(operations.replace),
        DELETE: manageEndpoint(operations.remove),
      },
    },
    { path: '/v1/webhooks/{evento}/segredo', methods: { POST: manageEndpointWithBody(operations.rotateSecret) } },
    { path: '/v1/webhooks/{evento}/reativacao', methods: { POST: manageEndpoint(operations.reactivate) } },
  ];
}
