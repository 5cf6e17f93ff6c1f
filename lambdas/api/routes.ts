import type { RouteTable } from '../platform/route-table.ts';
import type { RequiredScope } from './authorization.ts';

/** The routes of {base_url} that are independent of accounts. */
export const apiRoutes = {
  ProtectedResource: {
    path: '/.well-known/oauth-protected-resource',
    throttle: 'public',
    operations: { getProtectedResourceMetadata: { method: 'GET', access: 'public', errors: [] } },
  },
} as const satisfies RouteTable<RequiredScope | 'public', never>;
