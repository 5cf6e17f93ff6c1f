import type { RouteTable } from '../platform/route-table.ts';
import type { OAuthCase } from './oauth-error.ts';

/** The routes of {auth_url}. A function of each reads its form or writes its document; a client authenticates itself. */
export const authRoutes = {
  Token: {
    path: '/oauth/v1/token',
    throttle: 'token',
    operations: {
      issueToken: {
        method: 'POST',
        access: 'client',
        takesBody: true,
        refusals: [
          'grant_type_missing',
          'grant_unsupported',
          'grant_not_allowed',
          'username_missing',
          'password_missing',
          'refresh_token_missing',
          'username_too_long',
          'password_too_long',
          'refresh_token_too_long',
          'scope_invalid',
          'scope_of_another_client',
          'client_rate_limit',
          'scope_of_no_role',
          'scope_wider',
          'credentials_refused',
          'refresh_token_refused',
        ],
      },
    },
  },
  Revoke: {
    path: '/oauth/v1/revoke',
    throttle: 'auth',
    operations: {
      revokeToken: {
        method: 'POST',
        access: 'client',
        takesBody: true,
        refusals: ['token_missing', 'token_of_another_client'],
      },
    },
  },
  Introspect: {
    path: '/oauth/v1/introspect',
    throttle: 'auth',
    operations: { introspectToken: { method: 'POST', access: 'client', takesBody: true, refusals: ['token_missing'] } },
  },
  Jwks: {
    path: '/.well-known/jwks.json',
    throttle: 'public',
    operations: { getKeys: { method: 'GET', access: 'public', refusals: [] } },
  },
  Metadata: {
    path: '/.well-known/oauth-authorization-server',
    throttle: 'public',
    operations: { getServerMetadata: { method: 'GET', access: 'public', refusals: [] } },
  },
} as const satisfies RouteTable<'client' | 'public', OAuthCase>;
