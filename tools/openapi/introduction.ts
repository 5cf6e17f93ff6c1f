import { exampleUrls } from './example-urls.ts';

/* What the documents say of all operations: about the service, the host, and how callers authenticate. */

/** There is no address for all: and generators refuse a relative one here. */
const contact = { name: 'Support, by the channel agreed in the contract' };

const license = { name: 'Apache 2.0', identifier: 'Apache-2.0' };

const conventions = `HEAD is not listed: it works wherever GET does, and answers as GET does, without the content.

Every path answers methods that it does not take with 405 and \`Allow\` (\`x-method-not-allowed\`); other paths are 404 (\`x-not-found\`). \`{"message"}\` comes from the gateway before the service: it throttles, and refuses what is too large.

Answers and events may get further fields, and lists further values: \`x-extensible-enum\` has today's. Skip what you do not know. In schemas made of several forms \`x-forms\` says which fields come together.`;

/** The introduction of each document: who it is about, where that is, and its groups of operations. */
export const introductions = {
  auth: {
    info: {
      title: 'Emissor: tokens',
      version: '1',
      summary: 'The authorization server, {auth_url}.',
      description: `Emissor issues OAuth 2.0 tokens and delivers events to the URLs that are registered for them. This is its authorization server; \`webhooks.openapi.json\` is the API that takes the tokens.

Refusals have \`error\` (RFC 6749).

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
          'Client id and client secret. Or both in the form, as `client_id` and `client_secret`; never in both ways.',
      },
    },
  },
  base: {
    info: {
      title: 'Emissor: webhooks',
      version: '1',
      summary: 'Webhooks of the marketplace, {base_url}.',
      description: `Emissor issues OAuth 2.0 tokens and delivers events to the URLs that are registered for them. This is its API; the tokens come from the authorization server, which \`auth.openapi.json\` describes.

Refusals are \`application/problem+json\` with a \`code\`.

${conventions}

\`webhooks\` describes what receivers get.`,
      contact,
      license,
    },
    servers: [serverOf(exampleUrls.base, 'The API, {base_url}')],
    tags: [
      { name: 'Webhooks', description: 'Register URLs for events.' },
      {
        name: 'Deliveries',
        description: 'See what was sent, and send it again.',
      },
      {
        name: 'Replays',
        description: 'Send the deliveries of a span of time again.',
      },
      { name: 'Discovery', description: 'Documents that libraries read.' },
      {
        name: 'Events',
        description: 'What receivers get.',
      },
    ],
    securitySchemes: {
      login: {
        type: 'oauth2',
        description:
          'Logs in by itself, for tests only: the tool then has the secret of the client and the password of the user. `webhooks:manage` includes `webhooks:read`. The user must be an admin of the account.',
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
        description: 'An access token of the authorization server, with the scope that `login` lists.',
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

/** The header that chooses the language of refusals. */
export const acceptLanguage = {
  name: 'Accept-Language',
  in: 'header',
  description: 'The language of refusals: Portuguese where it prefers `pt`, else English.',
  schema: { type: 'string' },
  example: 'pt-BR, en;q=0.5',
};

/** Every stage has addresses of its own: the document's is a variable. */
function serverOf(example: string, description: string) {
  return {
    url: '{url}',
    description,
    variables: { url: { default: example, description: 'Its address at your stage.' } },
  };
}
