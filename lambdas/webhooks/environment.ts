import * as z from 'zod/mini';
import { list, optionalText, text, wholeNumber } from '../platform/environment.ts';

/** The environment that the functions behind {base_url} have in common. */
export const baseApiEnvironment = z.object({
  CLIENTS_TABLE: text,
  USERS_TABLE: text,
  SESSIONS_TABLE: text,
  KEYRING_TABLE: text,
  WEBHOOKS_TABLE: text,
  DELIVERIES_TABLE: text,
  /** {auth_url}, as access tokens name it in `iss`. */
  ISSUER: text,
  /** {base_url}, as access tokens name it in `aud`. */
  AUDIENCE: text,
  /** The page that explains the codes of refusals. */
  DOCS_URL: optionalText,
});

export const webhooksApiEnvironment = z.extend(baseApiEnvironment, {
  /** Host names of the service's own APIs, which are never delivered to. */
  OWN_HOSTS: list,
  /** Registrations and replacements of an account in a minute. */
  REGISTRATION_LIMIT: wholeNumber,
});
