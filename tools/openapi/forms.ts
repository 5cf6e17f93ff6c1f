import { passwordRule, usernameRule } from '../../lambdas/auth/grants/password.ts';
import { refreshTokenRule } from '../../lambdas/auth/grants/refresh-token.ts';
import { scopes } from '../../lambdas/auth/principals/scope.ts';

/*
 * The forms of {auth_url}. Their functions read them field by field (`lambdas/auth/form-request.ts`), without a schema. JSON
 * Schema counts characters where the functions count bytes of UTF-8, hence the descriptions.
 */

const client = {
  client_id: { type: 'string', description: 'The client, where it does not authenticate by HTTP Basic.' },
  client_secret: {
    type: 'string',
    format: 'password',
    description: 'Its secret, where it does not authenticate by HTTP Basic.',
  },
};

const scope = {
  type: 'string',
  description: 'The scopes to ask for, separated by single spaces. Without it, all that the user and the client have.',
  pattern: `^(?:${scopes.join('|')})(?: (?:${scopes.join('|')}))*$`,
  examples: [scopes.join(' ')],
};

const token = { type: 'string', minLength: 1, description: 'An access token or a refresh token.' };
const hint = { type: 'string', description: 'Not needed, and ignored: `access_token` or `refresh_token`.' };

/** The schemas of the forms: closed, though the service ignores fields that they do not name (RFC 6749 section 3.2). A field given twice is refused; empty ones are absent. */
export const formSchemas = {
  PasswordGrant: {
    type: 'object',
    description: 'Logs a user in (RFC 6749 section 4.3).',
    properties: {
      grant_type: { type: 'string', const: 'password' },
      ...client,
      username: {
        type: 'string',
        minLength: 1,
        maxLength: usernameRule.maxBytes,
        description: `The user's e-mail address, ${bytes(usernameRule.maxBytes)} at most.`,
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
    additionalProperties: false,
  },
  RefreshTokenGrant: {
    type: 'object',
    description: 'Exchanges a refresh token (RFC 6749 section 6).',
    properties: {
      grant_type: { type: 'string', const: 'refresh_token' },
      ...client,
      refresh_token: { type: 'string', minLength: 1, maxLength: refreshTokenRule.maxBytes },
      scope: { ...scope, description: 'Fewer scopes than were granted, if fewer are wanted.' },
    },
    required: ['grant_type', 'refresh_token'],
    additionalProperties: false,
  },
  TokenRequest: {
    oneOf: [{ $ref: '#/components/schemas/PasswordGrant' }, { $ref: '#/components/schemas/RefreshTokenGrant' }],
    discriminator: {
      propertyName: 'grant_type',
      mapping: {
        password: '#/components/schemas/PasswordGrant',
        refresh_token: '#/components/schemas/RefreshTokenGrant',
      },
    },
  },
  PresentedToken: {
    type: 'object',
    properties: { ...client, token, token_type_hint: hint },
    required: ['token'],
    additionalProperties: false,
  },
} as const;

function bytes(count: number): string {
  return `${count.toLocaleString('en')} bytes`;
}
