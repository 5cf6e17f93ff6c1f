import {
  manageEndpoint,
  manageEndpointWithBody,
  type Resource,
  type RouteHandler,
  readEndpoint,
} from '../../api/route.ts';
import type { makeHistoryOperations } from './deliveries.ts';
import type { makeReplayOperations } from './replays.ts';

/** What the paths lead to. */
export interface HistoryApiOperations {
  readonly history: ReturnType<typeof makeHistoryOperations>;
  readonly replays: ReturnType<typeof makeReplayOperations>;
  readonly test: RouteHandler;
}

/** The paths under a webhook that concern its deliveries. */
export function makeHistoryResources({ history, replays, test }: HistoryApiOperations): readonly Resource[] {
  return [
    { path: '/v1/webhooks/{evento}/teste', methods: { POST: manageEndpoint(test) } },
    { path: '/v1/webhooks/{evento}/entregas', methods: { GET: readEndpoint(history.list) } },
    { path: '/v1/webhooks/{evento}/entregas/{id}', methods: { GET: readEndpoint(history.show) } },
    { path: '/v1/webhooks/{evento}/entregas/{id}/reenvio', methods: { POST: manageEndpoint(history.resend) } },
    { path: '/v1/webhooks/{evento}/reenvios', methods: { POST: manageEndpointWithBody(replays.start) } },
    {
      path: '/v1/webhooks/{evento}/reenvios/{id}',
      methods: { GET: readEndpoint(replays.show), DELETE: manageEndpoint(replays.cancel) },
    },
  ];
}
