import * as z from 'zod/mini';
import { list, optionalText, text, wholeNumber } from '../platform/environment.ts';

/** The environment that the functions of {base_url} share. */
export const baseApiEnvironment = z.object({
  CLIENTS_TABLE: text,
  USERS_TABLE: text,
  SESSIONS_TABLE: text,
  KEYRING_TABLE: text,
  WEBHOOKS_TABLE: text,
  DELIVERIES_TABLE: text,
  /** {auth_url}, the `iss` of access tokens. */
  ISSUER: text,
  /** {base_url}, the `aud` of access tokens. */
  AUDIENCE: text,
  /** The page that explains the error codes. */
  DOCS_URL: optionalText,
});

export const webhooksApiEnvironment = z.extend(baseApiEnvironment, {
  /** Host names of the service's own APIs, which must not be delivery destinations. */
  OWN_HOSTS: list,
  /** The maximum number of registrations and replacements per account and minute. */
  REGISTRATION_LIMIT: wholeNumber,
});
