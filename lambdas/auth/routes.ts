import type { RouteTable } from '../platform/route-table.ts';

/** The routes of {auth_url}. `oauthCases` defines their errors. */
export const authRoutes = {
  Token: {
    path: '/oauth/v1/token',
    throttle: 'token',
    operations: {
      issueToken: {
        method: 'POST',
        access: 'client',
        takesBody: true,
        errors: [
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
          'credentials_rejected',
          'refresh_token_rejected',
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
        errors: ['token_missing', 'token_of_another_client'],
      },
    },
  },
  Introspect: {
    path: '/oauth/v1/introspect',
    throttle: 'auth',
    operations: { introspectToken: { method: 'POST', access: 'client', takesBody: true, errors: ['token_missing'] } },
  },
  Jwks: {
    path: '/.well-known/jwks.json',
    throttle: 'public',
    operations: { getKeys: { method: 'GET', access: 'public', errors: [] } },
  },
  Metadata: {
    path: '/.well-known/oauth-authorization-server',
    throttle: 'public',
    operations: { getServerMetadata: { method: 'GET', access: 'public', errors: [] } },
  },
} as const satisfies RouteTable<'client' | 'public', OAuthCase>;

/** The name of an error in `oauthCases`. */
export type OAuthCase = keyof typeof oauthCases;

/** The errors of every endpoint that reads a form. */
export type FormCase = keyof typeof formCases | 'method_not_post';

/**
 * A table of OAuth endpoint errors, by name. If RFC 6749 section 5.2 defines a code for an error, the error has that code.
 * Descriptions are plain ASCII and never repeat input.
 */
export type OAuthTable = Readonly<Record<string, OAuthRow>>;

/** The status, code and description of an error. */
export type OAuthRow = readonly [status: number, error: string, description: string];

/** The errors of requests to {auth_url} that match no operation. */
export const pathCases = {
  method_not_post: [405, 'invalid_request', 'The request method must be POST.'],
  method_not_get: [405, 'invalid_request', 'The request method must be GET.'],
  not_found: [404, 'invalid_request', 'This path does not exist.'],
} as const satisfies OAuthTable;

/** The errors of every endpoint that reads a form and authenticates a client. */
export const formCases = {
  content_type: [400, 'invalid_request', 'Send the request body as application/x-www-form-urlencoded, in UTF-8.'],
  body_too_large: [413, 'invalid_request', 'The request body is larger than 16 KiB.'],
  malformed_form: [
    400,
    'invalid_request',
    'The request body is not a well-formed form. Percent-encode each name and value as UTF-8.',
  ],
  duplicate_parameter: [400, 'invalid_request', 'A parameter is included more than once.'],
  secret_in_query: [400, 'invalid_request', 'Credentials and tokens must not be sent in the query string.'],
  client_missing: [
    401,
    'invalid_client',
    'Client credentials are missing. Send client_id and client_secret in the body or by HTTP Basic.',
  ],
  client_credentials_duplicated: [
    400,
    'invalid_request',
    'Send the client credentials in the body or by HTTP Basic, not both.',
  ],
  client_ids_differ: [
    400,
    'invalid_request',
    'The client_id in the body differs from the one in the Basic credentials. Omit it from the body.',
  ],
  basic_malformed: [
    400,
    'invalid_request',
    'The Basic credentials are malformed. Send client_id:client_secret in base64, each part percent-encoded as UTF-8.',
  ],
  client_rejected: [401, 'invalid_client', 'Client authentication failed.'],
} as const satisfies OAuthTable;

/** The errors that every endpoint can return for a fault in the service. */
export const serviceCases = {
  dependency_unavailable: [503, 'temporarily_unavailable', 'The service is busy. Try again in a moment.'],
  internal_error: [500, 'server_error', 'An internal error occurred.'],
} as const satisfies OAuthTable;

/** All errors of {auth_url}. */
export const oauthCases = {
  ...pathCases,
  ...formCases,
  grant_type_missing: [400, 'invalid_request', 'The parameter grant_type is required.'],
  grant_unsupported: [400, 'unsupported_grant_type', 'The grant type is not supported.'],
  grant_not_allowed: [400, 'unauthorized_client', 'The client is not allowed to use this grant type.'],
  username_missing: [400, 'invalid_request', 'The parameter username is required.'],
  password_missing: [400, 'invalid_request', 'The parameter password is required.'],
  refresh_token_missing: [400, 'invalid_request', 'The parameter refresh_token is required.'],
  token_missing: [400, 'invalid_request', 'The parameter token is required.'],
  username_too_long: [400, 'invalid_request', 'The parameter username is longer than 254 bytes.'],
  password_too_long: [400, 'invalid_request', 'The parameter password is longer than 1024 bytes.'],
  refresh_token_too_long: [400, 'invalid_request', 'The parameter refresh_token is longer than 512 bytes.'],
  scope_invalid: [
    400,
    'invalid_scope',
    'A requested scope is unknown. Request webhooks:read, webhooks:manage or both, separated by spaces.',
  ],
  scope_of_another_client: [400, 'invalid_scope', 'The client is not allowed to use a requested scope.'],
  client_rate_limit: [429, 'temporarily_unavailable', 'The client has sent too many wrong passwords. Try again later.'],
  scope_of_no_role: [400, 'invalid_scope', 'The role of the user allows none of the requested scopes.'],
  scope_wider: [400, 'invalid_scope', 'The requested scope exceeds the scope originally granted.'],
  credentials_rejected: [400, 'invalid_grant', 'The username or password is wrong, or the user may not log in now.'],
  refresh_token_rejected: [400, 'invalid_grant', 'The refresh token is invalid, expired or revoked.'],
  token_of_another_client: [400, 'invalid_request', 'The token was issued to another client.'],
  ...serviceCases,
} as const satisfies OAuthTable;
