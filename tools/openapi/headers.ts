/** The response headers. In OpenAPI, `Content-Type` is a part of the content. */
export const headers = {
  NoStore: {
    description: 'Caches must not store the response.',
    schema: { type: 'string', const: 'no-store' },
  },
  RequestId: {
    description: 'The id of the request, for support.',
    schema: { type: 'string' },
    example: 'AbCdEfGhIjKlMnO=',
  },
  PublicCache: {
    description: 'The time for which any cache may store the response.',
    schema: { type: 'string', pattern: '^public, max-age=[0-9]+$' },
    example: 'public, max-age=300',
  },
  Pragma: { description: 'Prevents caching by HTTP/1.0 caches.', schema: { type: 'string', const: 'no-cache' } },
  ContentLanguage: {
    description: 'The language of `title` and `detail`, which `Accept-Language` selects.',
    schema: { type: 'string', 'x-extensible-enum': ['en', 'pt-BR'] },
  },
  RetryAfter: {
    description: 'The number of seconds to wait before the next request.',
    schema: { type: 'integer', minimum: 1 },
    example: 30,
  },
  BearerChallenge: {
    description: 'The authentication scheme (RFC 6750), the problem with the token, and the metadata URL (RFC 9728).',
    schema: { type: 'string', pattern: '^Bearer realm="webhooks"' },
    example:
      'Bearer realm="webhooks", resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"',
  },
  BasicChallenge: {
    description: 'The authentication scheme for clients.',
    schema: { type: 'string', const: 'Basic realm="oauth", error="invalid_client"' },
  },
  Accept: { description: 'The required media type.', schema: { type: 'string', const: 'application/json' } },
  WebhookLocation: {
    description: 'The path of the new webhook.',
    schema: { type: 'string', pattern: '^/v1/webhooks/[a-z_.]+$' },
    example: '/v1/webhooks/proposta.recebida',
  },
  ReplayLocation: {
    description: 'The path of the new replay, or of the running replay.',
    schema: { type: 'string', pattern: '^/v1/webhooks/[a-z_.]+/reenvios/reenvio_[A-Za-z0-9]{22}$' },
    example: '/v1/webhooks/proposta.recebida/reenvios/reenvio_0Unh6M0hDjFlJnzs0eQZsx',
  },
} as const;

/** The names of a response's headers in `headers`, by HTTP name. */
export type HeaderNames = Readonly<Record<string, keyof typeof headers>>;
