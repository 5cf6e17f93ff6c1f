import type { RouteTable } from '../../platform/route-table.ts';

/** The routes of {auth_url}. A function of each reads its form or writes its document; a client authenticates itself. */
export const authRoutes = {
  Token: {
    path: '/oauth/v1/token',
    throttle: 'token',
    operations: { issueToken: { method: 'POST', access: 'client', takesBody: true } },
  },
  Revoke: {
    path: '/oauth/v1/revoke',
    throttle: 'auth',
    operations: { revokeToken: { method: 'POST', access: 'client', takesBody: true } },
  },
  Introspect: {
    path: '/oauth/v1/introspect',
    throttle: 'auth',
    operations: { introspectToken: { method: 'POST', access: 'client', takesBody: true } },
  },
  Jwks: {
    path: '/.well-known/jwks.json',
    throttle: 'public',
    operations: { getKeys: { method: 'GET', access: 'public' } },
  },
  Metadata: {
    path: '/.well-known/oauth-authorization-server',
    throttle: 'public',
    operations: { getServerMetadata: { method: 'GET', access: 'public' } },
  },
} as const satisfies RouteTable<'client' | 'public'>;
