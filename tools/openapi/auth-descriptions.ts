import type { apiRoutes } from '../../lambdas/api/routes.ts';
import type { authRoutes } from '../../lambdas/auth/routes.ts';
import type { BaseDescriptions, Descriptions, RequestBody } from './description.ts';

const credentials = { client_id: 'CLIENT_ID', client_secret: 'CLIENT_SECRET' };

const tokenBody: RequestBody = {
  required: true,
  schema: 'PresentedToken',
  examples: { token: { summary: 'A refresh token', value: { ...credentials, token: 'REFRESH_TOKEN' } } },
};

const introspected = {
  active: true,
  scope: 'webhooks:read webhooks:manage',
  client_id: 'CLIENT_ID',
  sub: '4Gc8ZVbQ1m3kXcYwTn0LpA',
  account_id: 'acme',
  sid: '4Gc8ZVbQ1m3kXcYwTn0LpA-7Hq2',
  iss: 'https://auth.example.com',
  iat: 1795181090,
  exp: 1795181990,
};

/** The operations of {auth_url}. */
export const authDescriptions: Descriptions<typeof authRoutes> = {
  issueToken: {
    tag: 'Tokens',
    summary: 'Get tokens',
    description:
      'Exchanges a user name and password, or a refresh token, for an access token and a refresh token. You can use each refresh token once. If you repeat the request within 30 seconds, for example because the response was lost, the response contains the same new refresh token. Clients authenticate with HTTP Basic or with form fields.',
    body: {
      required: true,
      schema: 'TokenRequest',
      examples: {
        password: {
          summary: 'Log in',
          value: { grant_type: 'password', ...credentials, username: 'ana@example.com', password: 'PASSWORD' },
        },
        refresh_token: {
          summary: 'Refresh',
          value: { grant_type: 'refresh_token', ...credentials, refresh_token: 'REFRESH_TOKEN' },
        },
      },
    },
    success: {
      status: 200,
      description: 'The tokens.',
      schema: 'TokenResponse',
      examples: {
        tokens: {
          value: {
            access_token: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl',
            token_type: 'Bearer',
            expires_in: 900,
            refresh_token: 'REFRESH_TOKEN',
            scope: 'webhooks:read webhooks:manage',
          },
        },
      },
    },
  },
  revokeToken: {
    tag: 'Tokens',
    summary: 'Revoke a token',
    description:
      'Ends the session of a token and revokes all tokens of the session (RFC 7009). For an unknown token, the response is the same.',
    body: tokenBody,
    success: {
      status: 200,
      description: 'The token is revoked.',
      schema: 'Revocation',
      examples: { revoked: { value: {} } },
    },
  },
  introspectToken: {
    tag: 'Tokens',
    summary: 'Introspect a token',
    description:
      'Returns whether a token is active, and its scopes (RFC 7662). A client can introspect its own tokens. A client with the introspection permission can introspect all tokens.',
    body: tokenBody,
    success: {
      status: 200,
      description: 'The properties of the token.',
      schema: 'Introspection',
      examples: {
        access: {
          summary: 'An access token',
          value: {
            ...introspected,
            token_type: 'Bearer',
            aud: 'https://api.example.com',
            jti: 'w1Xr5T0cVb9YzKk3NnQm2L',
          },
        },
        refresh: { summary: 'A refresh token', value: introspected },
        inactive: { summary: 'A token that is inactive, or belongs to another client', value: { active: false } },
      },
    },
  },
  getKeys: {
    tag: 'Discovery',
    summary: 'Get the public keys',
    description: 'Returns the keys that verify access tokens (RFC 7517). The service publishes keys a day before use.',
    success: { status: 200, description: 'The keys.', schema: 'KeySet' },
  },
  getServerMetadata: {
    tag: 'Discovery',
    summary: 'Get the authorization server metadata',
    description: 'Returns the endpoints and their capabilities (RFC 8414).',
    success: { status: 200, description: 'The metadata.', schema: 'ServerMetadata' },
  },
};

/** The public operations of {base_url}. */
export const apiDescriptions: BaseDescriptions<typeof apiRoutes> = {
  getProtectedResourceMetadata: {
    tag: 'Discovery',
    summary: 'Get the protected resource metadata',
    description: 'Returns the authorization server whose tokens the API accepts (RFC 9728).',
    success: { status: 200, description: 'The metadata.', schema: 'ProtectedResourceMetadata' },
  },
};
