import type { HeaderNames } from './headers.ts';
import { formRefusals, oauthResponses, tokenRefusals, uncached } from './oauth-refusals.ts';
import type { Operation } from './operation.ts';
import type { OwnResponse } from './response.ts';
import { ref, type SchemaName } from './schemas.ts';

const form = 'application/x-www-form-urlencoded';
/** By HTTP Basic, or with `client_id` and `client_secret` in the form, which OpenAPI has no scheme for. */
const security: Operation['security'] = [{ clientBasic: [] }, {}];
const credentials = { client_id: 'CLIENT_ID', client_secret: 'CLIENT_SECRET' };
const publicCache: HeaderNames = { 'Cache-Control': 'PublicCache' };

const introspected = {
  active: true,
  token_type: 'Bearer',
  scope: 'webhooks:read webhooks:manage',
  client_id: 'CLIENT_ID',
  sub: '4Gc8ZVbQ1m3kXcYwTn0LpA',
  account_id: 'acme',
  sid: '4Gc8ZVbQ1m3kXcYwTn0LpA-7Hq2',
  jti: 'w1Xr5T0cVb9YzKk3NnQm2L',
  iss: 'https://auth.example.com',
  aud: 'https://api.example.com',
  iat: 1795181090,
  exp: 1795181990,
};

/** The operations of {auth_url}, and the metadata of {base_url} that leads there. */
export const authOperations: readonly Operation[] = [
  {
    id: 'issueToken',
    host: 'auth',
    method: 'post',
    path: '/oauth/v1/token',
    tag: 'Tokens',
    summary: 'Get tokens',
    description:
      'Exchanges a user name and a password, or a refresh token, for an access token and a refresh token. Each refresh token works once; the same one gives the same successor again for 30 seconds, in case an answer was lost. Clients authenticate by HTTP Basic, or in the form.',
    security,
    body: {
      required: true,
      mediaType: form,
      schema: ref('TokenRequest'),
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
    responses: {
      200: success('The tokens.', 'TokenResponse', {
        tokens: {
          value: {
            access_token: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl',
            token_type: 'Bearer',
            expires_in: 900,
            refresh_token: 'REFRESH_TOKEN',
            scope: 'webhooks:read webhooks:manage',
          },
        },
      }),
      ...oauthResponses([...formRefusals, ...tokenRefusals]),
    },
  },
  {
    id: 'revokeToken',
    host: 'auth',
    method: 'post',
    path: '/oauth/v1/revoke',
    tag: 'Tokens',
    summary: 'Revoke a token',
    description:
      'Ends the login that a token belongs to, and with it all its tokens (RFC 7009). A token that is unknown counts as revoked.',
    security,
    body: tokenBody(),
    responses: {
      200: success('It is revoked.', 'Revocation', { revoked: { value: {} } }),
      ...oauthResponses([...formRefusals, 'token_missing', 'token_of_another_client']),
    },
  },
  {
    id: 'introspectToken',
    host: 'auth',
    method: 'post',
    path: '/oauth/v1/introspect',
    tag: 'Tokens',
    summary: 'Introspect a token',
    description:
      'Tells whether a token works, and what it opens (RFC 7662). A client sees its own tokens; one that is marked for introspection sees all.',
    security,
    body: tokenBody(),
    responses: {
      200: success('What is known of the token.', 'Introspection', {
        active: { value: introspected },
        inactive: { summary: 'A token that does not work, or is not yours to see', value: { active: false } },
      }),
      ...oauthResponses([...formRefusals, 'token_missing']),
    },
  },
  {
    id: 'getServerMetadata',
    host: 'auth',
    method: 'get',
    path: '/.well-known/oauth-authorization-server',
    tag: 'Discovery',
    summary: 'Get the metadata of the authorization server',
    description: 'Names the endpoints and what they support (RFC 8414).',
    security: [],
    responses: {
      200: success('The metadata.', 'ServerMetadata', {}, publicCache),
      ...oauthResponses(['dependency_unavailable', 'unforeseen']),
    },
  },
  {
    id: 'getKeys',
    host: 'auth',
    method: 'get',
    path: '/.well-known/jwks.json',
    tag: 'Discovery',
    summary: 'Get the public keys',
    description: 'The keys that verify access tokens (RFC 7517). A key is published a day before its first use.',
    security: [],
    responses: {
      200: success('The keys.', 'KeySet', {}, publicCache),
      ...oauthResponses(['dependency_unavailable', 'unforeseen']),
    },
  },
  {
    id: 'getProtectedResourceMetadata',
    host: 'base',
    method: 'get',
    path: '/.well-known/oauth-protected-resource',
    tag: 'Discovery',
    summary: 'Get the metadata of the API',
    description: 'Names the authorization server whose tokens the API takes (RFC 9728).',
    security: [],
    responses: { 200: success('The metadata.', 'ProtectedResourceMetadata', {}, publicCache) },
  },
];

function success(
  description: string,
  schema: SchemaName,
  examples: OwnResponse['examples'],
  headers: HeaderNames = uncached,
): OwnResponse {
  return { description, schema: ref(schema), ...(examples && { examples }), headers };
}

function tokenBody(): Operation['body'] {
  return {
    required: true,
    mediaType: form,
    schema: ref('PresentedToken'),
    examples: { token: { summary: 'A refresh token', value: { ...credentials, token: 'REFRESH_TOKEN' } } },
  };
}
