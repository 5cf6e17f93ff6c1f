import * as z from 'zod/mini';
import { grantTypes } from './principals/client.ts';
import { scopes } from './principals/scope.ts';

/*
 * The responses of {auth_url}. Functions import only the types, because the schemas are for the OpenAPI document.
 */

/** A successful response from the token endpoint (RFC 6749 section 5.1). */
export type TokenResponse = Readonly<z.infer<typeof tokenResponse>>;

/** The empty response to a revocation (RFC 7009 section 2.2). */
export type Revocation = z.infer<typeof revocation>;

/** The response to a token introspection (RFC 7662 section 2.2). */
export type Introspection = Readonly<z.infer<typeof introspection>>;

/** Authorization server metadata (RFC 8414 section 2). */
export type ServerMetadata = z.infer<typeof serverMetadata>;

/** The public signing keys (RFC 7517 section 5). */
export type KeySet = z.infer<typeof keySet>;

/** The body of an {auth_url} error response (RFC 6749 section 5.2). */
export type OAuthErrorBody = z.infer<typeof oauthErrorBody>;

export const tokenResponse = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  /** The lifetime of the access token in seconds. */
  expires_in: z.int(),
  /** Present if the client may use the refresh grant. */
  refresh_token: z.optional(z.string()),
  /** Present if the token has at least one scope. */
  scope: z.optional(z.string()),
});

export const revocation = z.strictObject({});

const tokenOwner = {
  active: z.literal(true),
  scope: z.optional(z.string()),
  client_id: z.string(),
  sub: z.string(),
  account_id: z.string(),
  /** The id of the token's session. */
  sid: z.string(),
  iss: z.string(),
  iat: z.int(),
  exp: z.int(),
};

/** The response for a valid access token. */
export const activeAccessToken = z.object({
  ...tokenOwner,
  token_type: z.literal('Bearer'),
  aud: z.string(),
  jti: z.string(),
});

/** The response for a valid refresh token. */
const activeRefreshToken = z.object(tokenOwner);

/** The response for a token that is expired, revoked, malformed or hidden from the caller (RFC 7662 section 2.2). */
const inactiveToken = z.object({ active: z.literal(false) });

export const introspection = z.union([activeAccessToken, activeRefreshToken, inactiveToken]);

const clientAuthentication = z.array(z.enum(['client_secret_basic', 'client_secret_post']));

export const serverMetadata = z.object({
  issuer: z.string(),
  token_endpoint: z.string(),
  token_endpoint_auth_methods_supported: clientAuthentication,
  revocation_endpoint: z.string(),
  revocation_endpoint_auth_methods_supported: clientAuthentication,
  introspection_endpoint: z.string(),
  introspection_endpoint_auth_methods_supported: clientAuthentication,
  jwks_uri: z.string(),
  scopes_supported: z.array(z.enum(scopes)),
  grant_types_supported: z.array(z.enum(grantTypes)),
  /** Always empty, because there is no authorization endpoint. */
  response_types_supported: z.array(z.string()),
});

const keyUse = { kid: z.string(), use: z.literal('sig') };

/** A public signing key. */
export const publicKey = z.discriminatedUnion('kty', [
  z.object({
    kty: z.literal('EC'),
    crv: z.literal('P-256'),
    x: z.string(),
    y: z.string(),
    alg: z.literal('ES256'),
    ...keyUse,
  }),
  z.object({ kty: z.literal('RSA'), n: z.string(), e: z.string(), alg: z.literal('RS256'), ...keyUse }),
]);

export const keySet = z.object({ keys: z.array(publicKey) });

/** Protected resource metadata of {base_url}, which refers to {auth_url} (RFC 9728 section 2). */
export const protectedResourceMetadata = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.string()),
  scopes_supported: z.array(z.enum(scopes)),
  bearer_methods_supported: z.array(z.literal('header')),
});

export const oauthErrorBody = z.object({ error: z.string(), error_description: z.string() });
