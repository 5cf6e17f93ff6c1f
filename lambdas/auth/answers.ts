import * as z from 'zod/mini';
import { grantTypes } from './principals/client.ts';
import { scopes } from './principals/scope.ts';

/*
 * The answers of {auth_url}. Functions import the types alone: the schemas are for the OpenAPI document.
 */

/** A successful answer of the token endpoint (RFC 6749 section 5.1). */
export type TokenResponse = Readonly<z.infer<typeof tokenResponse>>;

/** The answer to a revocation: nothing (RFC 7009 section 2.2). */
export type Revocation = z.infer<typeof revocation>;

/** The answer to the introspection of a token (RFC 7662 section 2.2). */
export type Introspection = Readonly<z.infer<typeof introspection>>;

/** Authorization server metadata (RFC 8414 section 2). */
export type ServerMetadata = z.infer<typeof serverMetadata>;

/** The public halves of the signing keys (RFC 7517 section 5). */
export type KeySet = z.infer<typeof keySet>;

/** The body of a refusal of {auth_url} (RFC 6749 section 5.2). */
export type OAuthErrorBody = z.infer<typeof oauthErrorBody>;

export const tokenResponse = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  /** Seconds. */
  expires_in: z.int(),
  /** Present where the client may refresh. */
  refresh_token: z.optional(z.string()),
  /** Present where the token opens anything. */
  scope: z.optional(z.string()),
});

export const revocation = z.strictObject({});

const tokenOwner = {
  active: z.literal(true),
  scope: z.optional(z.string()),
  client_id: z.string(),
  sub: z.string(),
  account_id: z.string(),
  /** The session that the token belongs to. */
  sid: z.string(),
  iss: z.string(),
  iat: z.int(),
  exp: z.int(),
};

/** An access token that opens what its `scope` says. */
export const activeAccessToken = z.object({
  ...tokenOwner,
  token_type: z.literal('Bearer'),
  aud: z.string(),
  jti: z.string(),
});

/** A refresh token that works. */
const activeRefreshToken = z.object(tokenOwner);

/** The whole answer for a token that is expired, revoked, malformed or not the caller's to see (RFC 7662 section 2.2). */
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
  /** Empty: there is no authorization endpoint. */
  response_types_supported: z.array(z.string()),
});

const keyUse = { kid: z.string(), use: z.literal('sig') };

/** The public half of a signing key. */
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

/** Of {base_url}, about {auth_url}: protected resource metadata (RFC 9728 section 2). */
export const protectedResourceMetadata = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.string()),
  scopes_supported: z.array(z.enum(scopes)),
  bearer_methods_supported: z.array(z.literal('header')),
});

export const oauthErrorBody = z.object({ error: z.string(), error_description: z.string() });
