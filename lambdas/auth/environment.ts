import * as z from 'zod/mini';
import { text, wholeNumber } from '../platform/environment.ts';

/** What the token function reads from its environment; durations in seconds, limits per minute. */
export const tokenEnvironment = z.object({
  CLIENTS_TABLE: text,
  USERS_TABLE: text,
  CREDENTIALS_TABLE: text,
  SESSIONS_TABLE: text,
  LOCKOUTS_TABLE: text,
  KEYRING_TABLE: text,
  ISSUER: text,
  AUDIENCE: text,
  ACCESS_TOKEN_SECONDS: wholeNumber,
  REFRESH_IDLE_SECONDS: wholeNumber,
  REFRESH_ABSOLUTE_SECONDS: wholeNumber,
  ADDRESS_FAILURE_LIMIT: wholeNumber,
  CLIENT_FAILURE_LIMIT: wholeNumber,
});

/** The token function's environment as infrastructure sets it. */
export type TokenEnvironment = z.input<typeof tokenEnvironment>;

/** The same, as it was read. */
export type TokenEnvironmentValues = z.output<typeof tokenEnvironment>;

/** What the discovery function reads from its environment. */
export const discoveryEnvironment = z.object({ KEYRING_TABLE: text, ISSUER: text });

/** The discovery function's environment as infrastructure sets it. */
export type DiscoveryEnvironment = z.input<typeof discoveryEnvironment>;

/** What the key rotation reads from its environment; durations in seconds. */
export const rotateKeysEnvironment = z.object({
  KEYRING_TABLE: text,
  KEY_ARN: text,
  SIGNING_ALGORITHM: z.enum(['ES256', 'RS256'], 'must be ES256 or RS256'),
  KEY_ROTATION_SECONDS: wholeNumber,
  ACCESS_TOKEN_SECONDS: wholeNumber,
  REFRESH_ABSOLUTE_SECONDS: wholeNumber,
});

/** The key rotation's environment as infrastructure sets it. */
export type RotateKeysEnvironment = z.input<typeof rotateKeysEnvironment>;

/** The same, as it was read. */
export type RotateKeysEnvironmentValues = z.output<typeof rotateKeysEnvironment>;

/** What the revocation function reads from its environment. */
export const revokeEnvironment = z.object({
  CLIENTS_TABLE: text,
  SESSIONS_TABLE: text,
  LOCKOUTS_TABLE: text,
  KEYRING_TABLE: text,
  ISSUER: text,
  AUDIENCE: text,
  ADDRESS_FAILURE_LIMIT: wholeNumber,
});

/** The revocation function's environment as infrastructure sets it. */
export type RevokeEnvironment = z.input<typeof revokeEnvironment>;

/** The same, as it was read. */
export type RevokeEnvironmentValues = z.output<typeof revokeEnvironment>;

/** What the introspection function reads from its environment. */
export const introspectEnvironment = z.extend(revokeEnvironment, { USERS_TABLE: text });

/** The introspection function's environment as infrastructure sets it. */
export type IntrospectEnvironment = z.input<typeof introspectEnvironment>;

/** The same, as it was read. */
export type IntrospectEnvironmentValues = z.output<typeof introspectEnvironment>;
