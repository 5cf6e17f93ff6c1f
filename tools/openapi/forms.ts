import { passwordRule, usernameRule } from '../../lambdas/auth/grants/password.ts';
import { refreshTokenRule } from '../../lambdas/auth/grants/refresh-token.ts';
import { scopes } from '../../lambdas/auth/principals/scope.ts';
import { union } from './plain-schemas.ts';

/* The forms of {auth_url}. Their functions read them field by field (`lambdas/auth/form-request.ts`), without a schema.
 * JSON Schema counts characters, but the functions count bytes of UTF-8, hence the descriptions. */

const client = {
  client_id: { type: 'string', description: 'The client, if it does not authenticate by HTTP Basic.' },
  client_secret: {
    type: 'string',
    format: 'password',
    description: 'Its secret, if it does not authenticate by HTTP Basic.',
  },
};

const scope = {
  type: 'string',
  description:
    'The requested scopes, separated by spaces. Without it, all that the user and the client have, or all that were granted.',
  pattern: `^(?:${scopes.join('|')})(?: +(?:${scopes.join('|')}))*$`,
  examples: [scopes.join(' ')],
};

const token = { type: 'string', minLength: 1, description: 'An access token or a refresh token.' };
const hint = { type: 'string', description: 'Optional and ignored: `access_token` or `refresh_token`.' };

const passwordGrant = {
  type: 'object',
  properties: {
    grant_type: { type: 'string', const: 'password' },
    ...client,
    username: {
      type: 'string',
      minLength: 1,
      description: `The user's e-mail address, ${bytes(usernameRule.maxBytes)} at most, trimmed, in Unicode's normal form C, and with the domain in ASCII. An international domain may be sent in Unicode or in ASCII.`,
    },
    password: {
      type: 'string',
      minLength: 1,
      maxLength: passwordRule.maxBytes,
      format: 'password',
      description: `${bytes(passwordRule.maxBytes)} at most.`,
    },
    scope,
  },
  required: ['grant_type', 'username', 'password'],
};

const refreshTokenGrant = {
  type: 'object',
  properties: {
    grant_type: { type: 'string', const: 'refresh_token' },
    ...client,
    refresh_token: { type: 'string', minLength: 1, maxLength: refreshTokenRule.maxBytes },
    scope,
  },
  required: ['grant_type', 'refresh_token'],
};

const ignoredFields = { description: 'Other fields are ignored (RFC 6749 section 3.2).' };

/** The schemas of the forms. A repeated field is rejected, and an empty field is absent. */
export const formSchemas = {
  TokenRequest: {
    ...union([passwordGrant, refreshTokenGrant]),
    description:
      'Logs a user in (RFC 6749 section 4.3), with `username` and `password`; or exchanges a refresh token (section 6).',
    additionalProperties: ignoredFields,
  },
  PresentedToken: {
    type: 'object',
    properties: { ...client, token, token_type_hint: hint },
    required: ['token'],
    additionalProperties: ignoredFields,
  },
} as const;

function bytes(count: number): string {
  return `${count.toLocaleString('en')} bytes`;
}
