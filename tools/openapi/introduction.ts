import { exampleUrls } from './example-urls.ts';

/* The documents' texts about all operations: the service, the host, and the authentication of callers. */

/** Support has no common address, and generators reject a relative one here. */
const contact = { name: 'Support, by the channel agreed in the contract' };

const license = { name: 'Apache 2.0', identifier: 'Apache-2.0' };

const conventions = `HEAD is not listed: every GET operation supports it, with the same response but without the content.

Every path responds to unsupported methods with 405 and \`Allow\` (\`x-method-not-allowed\`); unknown paths return 404 (\`x-not-found\`). \`{"message"}\` comes from the gateway in front of the service: it throttles requests, and refuses those that are too large.

Responses and events may get further fields, and lists further values: \`x-extensible-enum\` has the current ones. Ignore unknown fields and values. In schemas with several forms, \`x-forms\` lists the combinations of fields.`;

/** The introduction of each document: its subject, its host, and its groups of operations. */
export const introductions = {
  auth: {
    info: {
      title: 'Emissor: tokens',
      version: '1',
      summary: 'The authorization server, {auth_url}.',
      description: `Emissor issues OAuth 2.0 tokens and delivers events to the URLs that are registered for them. This is its authorization server; \`webhooks.openapi.json\` describes the API that accepts the tokens.

Errors have \`error\` (RFC 6749).

${conventions}`,
      contact,
      license,
    },
    servers: [serverOf(exampleUrls.auth, 'The authorization server, {auth_url}')],
    tags: [
      {
        name: 'Tokens',
        description: 'Log in, refresh, log out.',
      },
      { name: 'Discovery', description: 'Documents that libraries read.' },
    ],
    securitySchemes: {
      clientBasic: {
        type: 'http',
        scheme: 'basic',
        description:
          'Client id and client secret. Alternatively send both in the form, as `client_id` and `client_secret`, but never both ways.',
      },
    },
  },
  base: {
    info: {
      title: 'Emissor: webhooks',
      version: '1',
      summary: 'Webhooks of the marketplace, {base_url}.',
      description: `Emissor issues OAuth 2.0 tokens and delivers events to the URLs that are registered for them. This is its API; the tokens come from the authorization server, which \`auth.openapi.json\` describes.

Errors are \`application/problem+json\` with a \`code\`.

${conventions}

\`webhooks\` describes the requests that receivers get.`,
      contact,
      license,
    },
    servers: [serverOf(exampleUrls.base, 'The API, {base_url}')],
    tags: [
      { name: 'Webhooks', description: 'Register URLs for events.' },
      {
        name: 'Deliveries',
        description: 'See sent deliveries, and send them again.',
      },
      {
        name: 'Replays',
        description: 'Send the deliveries of a period again.',
      },
      { name: 'Discovery', description: 'Documents that libraries read.' },
      {
        name: 'Events',
        description: 'The requests that receivers get.',
      },
    ],
    securitySchemes: {
      login: {
        type: 'oauth2',
        description:
          'Logs in automatically, for tests only: the tool then has the secret of the client and the password of the user. `webhooks:manage` includes `webhooks:read`. The user must be an admin of the account.',
        flows: {
          password: {
            tokenUrl: `${exampleUrls.auth}/oauth/v1/token`,
            refreshUrl: `${exampleUrls.auth}/oauth/v1/token`,
            scopes: { 'webhooks:read': 'See webhooks and deliveries.', 'webhooks:manage': 'See and change them.' },
          },
        },
      },
      accessToken: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'An access token of the authorization server, with the scope listed under `login`.',
      },
      receiverAuthorization: {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description: 'The `autorizacao` of the registration, if it has one.',
      },
    },
  },
} as const;

/** The header that selects the language of error messages. */
export const acceptLanguage = {
  name: 'Accept-Language',
  in: 'header',
  description: 'The language of error messages: Portuguese if it prefers `pt`, otherwise English.',
  schema: { type: 'string' },
  example: 'pt-BR, en;q=0.5',
};

/** Returns a server whose address is a variable, because every stage has its own addresses. */
function serverOf(example: string, description: string) {
  return {
    url: '{url}',
    description,
    variables: { url: { default: example, description: 'The address of your stage.' } },
  };
}
