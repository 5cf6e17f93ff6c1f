import { exampleUrls } from './example-urls.ts';

/** The contact has no URL, because each customer has a different support channel and generators reject a relative URL. */
const contact = { name: 'Support, through the channel agreed in the contract' };

const license = { name: 'Apache 2.0', identifier: 'Apache-2.0' };

const conventions = `Every GET operation also supports HEAD, which returns the same response without content.

Every path returns 405 and \`Allow\` for unsupported methods (\`x-method-not-allowed\`). Unknown paths return 404 (\`x-not-found\`). The gateway in front of the service throttles requests and rejects requests that are too large. Its errors have the form \`{"message"}\`.

Future versions may add fields and values. \`x-extensible-enum\` lists the current values. Ignore unknown fields and values. In schemas with several variants, \`x-forms\` lists the combinations of fields.`;

/** The introduction of each document. */
export const introductions = {
  auth: {
    info: {
      title: 'Emissor: tokens',
      version: '1',
      summary: 'The authorization server, {auth_url}.',
      description: `Emissor issues OAuth 2.0 tokens and delivers events to the URLs that are registered for them. This document describes the authorization server. \`webhooks.openapi.json\` describes the API that accepts the tokens.

Error responses have the field \`error\` (RFC 6749).

${conventions}`,
      contact,
      license,
    },
    servers: [serverOf(exampleUrls.auth, 'The authorization server, {auth_url}')],
    tags: [
      {
        name: 'Tokens',
        description: 'Log in, refresh tokens, and log out.',
      },
      { name: 'Discovery', description: 'Metadata for libraries.' },
    ],
    securitySchemes: {
      clientBasic: {
        type: 'http',
        scheme: 'basic',
        description:
          'The client id and the client secret. Alternatively, send them in the form as `client_id` and `client_secret`. Do not use both methods in one request.',
      },
    },
  },
  base: {
    info: {
      title: 'Emissor: webhooks',
      version: '1',
      summary: 'The API for webhooks, {base_url}.',
      description: `Emissor issues OAuth 2.0 tokens and delivers events to the URLs that are registered for them. This document describes the API. \`auth.openapi.json\` describes the authorization server, which issues the tokens.

Error responses are \`application/problem+json\` with a \`code\`.

${conventions}

\`webhooks\` describes the requests that the service sends to receivers.`,
      contact,
      license,
    },
    servers: [serverOf(exampleUrls.base, 'The API, {base_url}')],
    tags: [
      { name: 'Webhooks', description: 'Register URLs for events.' },
      {
        name: 'Deliveries',
        description: 'List deliveries, and send them again.',
      },
      {
        name: 'Replays',
        description: 'Send deliveries from a period again.',
      },
      { name: 'Discovery', description: 'Metadata for libraries.' },
      {
        name: 'Events',
        description: 'The requests that the service sends to receivers.',
      },
    ],
    securitySchemes: {
      login: {
        type: 'oauth2',
        description:
          "Logs in automatically. Use it only for tests, because your tool needs the client secret and the user's password. `webhooks:manage` includes `webhooks:read`. The user must be an admin of the account.",
        flows: {
          password: {
            tokenUrl: `${exampleUrls.auth}/oauth/v1/token`,
            refreshUrl: `${exampleUrls.auth}/oauth/v1/token`,
            scopes: {
              'webhooks:read': 'Read webhooks and deliveries.',
              'webhooks:manage': 'Read and change webhooks and deliveries.',
            },
          },
        },
      },
      accessToken: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'An access token from the authorization server, with the scope listed under `login`.',
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
  description: 'The language of error messages. It is Portuguese if the header prefers `pt`, and English otherwise.',
  schema: { type: 'string' },
  example: 'pt-BR, en;q=0.5',
};

/** Returns a server with a variable as its URL, because every stage has its own URLs. */
function serverOf(example: string, description: string) {
  return {
    url: '{url}',
    description,
    variables: { url: { default: example, description: 'The URL of your stage.' } },
  };
}
