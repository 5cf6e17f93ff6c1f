import * as z from 'zod/mini';
import { text, wholeNumber } from '../platform/environment.ts';

/** The environment of the token function. `CLIENT_FAILURE_LIMIT` is per client and minute. */
export const tokenEnvironment = z.object({
  CLIENTS_TABLE: text,
  USERS_TABLE: text,
  CREDENTIALS_TABLE: text,
  SESSIONS_TABLE: text,
  LOCKOUTS_TABLE: text,
  KEYRING_TABLE: text,
  ISSUER: text,
  AUDIENCE: text,
  CLIENT_FAILURE_LIMIT: wholeNumber,
});

export const discoveryEnvironment = z.object({ KEYRING_TABLE: text, ISSUER: text });

export const rotateKeysEnvironment = z.object({
  KEYRING_TABLE: text,
  KEY_ARN: text,
  SIGNING_ALGORITHM: z.enum(['ES256', 'RS256'], 'must be ES256 or RS256'),
});

export const revokeEnvironment = z.object({
  CLIENTS_TABLE: text,
  SESSIONS_TABLE: text,
  KEYRING_TABLE: text,
  ISSUER: text,
  AUDIENCE: text,
});

export const introspectEnvironment = z.extend(revokeEnvironment, { USERS_TABLE: text });
