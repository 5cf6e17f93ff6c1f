/* What the document says of all operations: about the service, its hosts, and how callers authenticate. */

/** Title, version and description. */
export const info = {
  title: 'Emissor',
  version: '1',
  summary: 'Tokens, and webhooks of the marketplace.',
  description: `Emissor issues OAuth 2.0 tokens and delivers events to the URLs that are registered for them.

There are two hosts: \`/oauth/v1\` and two documents under \`/.well-known\` are at the authorization server, \`/v1\` and the metadata of the API at the API; each path says which.

HEAD is not listed: it works wherever GET does, and answers as GET does, without the content.

Refusals of the API are \`application/problem+json\` with a \`code\`; those of the authorization server have \`error\`. Where a response has both, \`{"message"}\` comes from the gateway before them: it throttles, and refuses what is too large. Every path answers methods that it does not take with 405 and \`Allow\` (\`x-method-not-allowed\`), and each host answers other paths with 404 (\`x-not-found\`).

\`webhooks\` describes what receivers get.`,
  license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
};

/** The groups of operations. */
export const tags = [
  { name: 'Tokens', description: 'Log in, refresh, log out.' },
  { name: 'Webhooks', description: 'Register URLs for events.' },
  { name: 'Deliveries', description: 'See what was sent, and send it again.' },
  { name: 'Replays', description: 'Send the deliveries of a span of time again.' },
  { name: 'Discovery', description: 'Documents that libraries read.' },
  { name: 'Events', description: 'What receivers get.' },
];

/** The ways to authenticate. */
export const securitySchemes = {
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'An access token of the authorization server. An operation lists the scope that it needs; `webhooks:manage` includes `webhooks:read`. The user must be an admin of the account.',
  },
  clientBasic: {
    type: 'http',
    scheme: 'basic',
    description:
      'Client id and client secret. Or both in the form, as `client_id` and `client_secret`; never in both ways.',
  },
  receiverAuthorization: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The `autorizacao` of the registration, if it has one.',
  },
};

/** The header that chooses the language of refusals. */
export const acceptLanguage = {
  name: 'Accept-Language',
  in: 'header',
  description: 'The language of refusals: Portuguese where it prefers `pt`, else English.',
  schema: { type: 'string' },
  example: 'pt-BR, en;q=0.5',
};

/** The addresses of each host: an example, and those of a local run. Each stage has its own. */
export const servers = {
  auth: [
    { url: 'https://auth.emissor.example', description: 'The authorization server, {auth_url}' },
    { url: 'http://127.0.0.1:4000', description: 'The same in a local run (`npm start`)' },
  ],
  base: [
    { url: 'https://api.emissor.example', description: 'The API, {base_url}' },
    { url: 'http://127.0.0.1:4001', description: 'The same in a local run (`npm start`)' },
  ],
};
