import type { makeOperations } from './operations.ts';
import { managing, type Resource, reading } from './resource.ts';

/** The paths of registrations, over the operations on them. */
export const makeWebhookResources = (operations: ReturnType<typeof makeOperations>): readonly Resource[] => [
  { path: /^\/v1\/webhooks$/, methods: { GET: reading(operations.list), POST: managing(operations.register) } },
  {
    path: /^\/v1\/webhooks\/(?<evento>[^/]+)$/,
    methods: {
      GET: reading(operations.show),
      PUT: managing(operations.replace),
      DELETE: managing(operations.remove),
    },
  },
  { path: /^\/v1\/webhooks\/(?<evento>[^/]+)\/segredo$/, methods: { POST: managing(operations.rotateSecret) } },
  { path: /^\/v1\/webhooks\/(?<evento>[^/]+)\/reativacao$/, methods: { POST: managing(operations.reactivate) } },
];
