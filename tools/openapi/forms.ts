import { passwordRule, usernameRule } from '../../lambdas/auth/grants/password.ts';
import { refreshTokenRule } from '../../lambdas/auth/grants/refresh-token.ts';
import { scopes } from '../../lambdas/auth/principals/scope.ts';
import { union } from './plain-schemas.ts';

/* The forms of {auth_url}. Functions read them without a schema (`lambdas/auth/form-request.ts`). JSON Schema can only limit
 * characters, so the descriptions specify the limits in UTF-8 bytes. */

const client = {
  client_id: { type: 'string', description: 'The client id, if the client does not authenticate with HTTP Basic.' },
  client_secret: {
    type: 'string',
    format: 'password',
    description: 'The client secret, if the client does not authenticate with HTTP Basic.',
  },
};

const scope = {
  type: 'string',
  description:
    'The requested scopes, separated by spaces. The default is all scopes that both the user and the client have or, for a refresh token, all granted scopes.',
  pattern: `^(?:${scopes.join('|')})(?: +(?:${scopes.join('|')}))*$`,
  examples: [scopes.join(' ')],
};

const token = { type: 'string', minLength: 1, description: 'An access token or a refresh token.' };
const hint = { type: 'string', description: '`access_token` or `refresh_token`. The service ignores this hint.' };

const passwordGrant = {
  type: 'object',
  properties: {
    grant_type: { type: 'string', const: 'password' },
    ...client,
    username: {
      type: 'string',
      minLength: 1,
      description: `The user's e-mail address. The service trims it, normalises it to Unicode NFC and converts its domain to ASCII. The result may have at most ${bytes(usernameRule.maxBytes)}.`,
    },
    password: {
      type: 'string',
      minLength: 1,
      maxLength: passwordRule.maxBytes,
      format: 'password',
      description: `At most ${bytes(passwordRule.maxBytes)}.`,
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

const ignoredFields = { description: 'The service ignores other fields (RFC 6749 section 3.2).' };

/** The schemas of the forms. The service rejects repeated fields and ignores empty ones. */
export const formSchemas = {
  TokenRequest: {
    ...union([passwordGrant, refreshTokenGrant]),
    description:
      'Logs a user in with `username` and `password` (RFC 6749 section 4.3), or exchanges a refresh token (section 6).',
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
