import { beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../tools/support/accounts.ts';
import { type ApiRequest, passwordGrant } from '../../tools/support/service-client.ts';
import { createClient, getTokens } from '../support/e2e-accounts.ts';
import { callApi, expectProblem, openSession, publicHost, type Session } from '../support/e2e-webhooks.ts';

let client: Client;
let admin: Session;
let member: Session;
let reader: string;
let url: string;

beforeAll(async () => {
  client = await createClient();
  admin = await openSession(client);
  member = await openSession(client, { account: admin.user.account, role: 'member' });
  const narrow = await getTokens({ ...passwordGrant(client, admin.user), scope: 'webhooks:read' });
  reader = narrow.access_token;
  url = `https://${await publicHost()}/hook`;
  await callApi('POST', '/v1/webhooks', { token: admin.token, body: { evento: 'demanda.criada', url } });
});

interface Case {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly request: () => ApiRequest;
  readonly status: number;
  readonly code: string;
  readonly headers?: Record<string, unknown>;
}

const asAdmin = (more: ApiRequest = {}) => ({ token: admin.token, ...more });
const one = '/v1/webhooks/demanda.criada';
const all = '/v1/webhooks';
const valid = () => ({ evento: 'demanda.cancelada', url });

const swapSignature = (token: string): string => {
  const [header, payload, signature = ''] = token.split('.');
  return [header, payload, `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`].join('.');
};
const unsigned = (token: string): string => {
  const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url');
  return `${header}.${token.split('.')[1]}.`;
};

const missing = { 'www-authenticate': expect.stringMatching(/^Bearer (?!.*error=).*resource_metadata="https?:/) };
const invalid = { 'www-authenticate': expect.stringMatching(/^Bearer .*error="invalid_token".*resource_metadata="/) };
const insufficient = { 'www-authenticate': expect.stringMatching(/^Bearer .*error="insufficient_scope"/) };

const cases: readonly Case[] = [
  { title: 'path unknown', method: 'GET', path: '/v1/nothing', request: asAdmin, status: 404, code: 'not_found' },
  { title: 'path unknown, no token', method: 'GET', path: '/', request: () => ({}), status: 404, code: 'not_found' },
  {
    title: 'method unknown on the collection, no token',
    ...{ method: 'PUT', path: all, request: () => ({}), status: 405, code: 'method_not_allowed' },
    headers: { allow: 'GET, HEAD, POST' },
  },
  {
    title: 'method unknown on one webhook',
    ...{ method: 'PATCH', path: one, request: asAdmin, status: 405, code: 'method_not_allowed' },
    headers: { allow: 'GET, HEAD, PUT, DELETE' },
  },

  ...[
    ['GET', all],
    ['POST', all],
    ['GET', one],
    ['PUT', one],
    ['DELETE', one],
  ].flatMap(([method = '', path = '']): Case[] => [
    {
      title: 'no token (RFC 6750 section 3.1)',
      ...{ method, path, request: () => ({}), status: 401, code: 'token_missing', headers: missing },
    },
    {
      title: 'Bearer with nothing behind it (RFC 6750 section 3.1)',
      ...{ method, path, status: 401, code: 'token_missing', headers: missing },
      request: () => ({ headers: { authorization: 'Bearer' } }),
    },
    {
      title: 'a member',
      ...{ method, path, request: () => ({ token: member.token }), status: 403, code: 'admin_required' },
    },
  ]),
  ...[
    ['garbage', () => 'garbage'],
    ['an altered signature', () => swapSignature(admin.token)],
    ['alg none (RFC 8725 section 3.1)', () => unsigned(admin.token)],
  ].map(
    ([title, token]): Case => ({
      title: `token: ${title}`,
      ...{ method: 'GET', path: all, status: 401, code: 'invalid_token', headers: invalid },
      request: () => ({ token: typeof token === 'function' ? token() : '' }),
    }),
  ),
  ...[
    ['POST', all],
    ['PUT', one],
    ['DELETE', one],
  ].map(
    ([method = '', path = '']): Case => ({
      title: 'webhooks:read only (RFC 6750 section 3.1)',
      ...{ method, path, request: () => ({ token: reader }) },
      ...{ status: 403, code: 'insufficient_scope', headers: insufficient },
    }),
  ),

  ...[
    ['POST', all],
    ['PUT', one],
  ].flatMap(([method = '', path = '']): Case[] => [
    {
      title: 'a body that is text',
      ...{ method, path, status: 415, code: 'unsupported_media_type' },
      request: () => asAdmin({ headers: { 'content-type': 'text/plain' }, body: JSON.stringify(valid()) }),
    },
    {
      title: 'a body without a content type',
      ...{ method, path, status: 415, code: 'unsupported_media_type' },
      request: () => asAdmin({ body: JSON.stringify(valid()) }),
    },
    {
      title: 'a body over 16 KiB',
      ...{ method, path, status: 413, code: 'payload_too_large' },
      request: () => asAdmin({ body: { ...valid(), padding: 'x'.repeat(16 * 1024) } }),
    },
    {
      title: 'a body that is no JSON',
      ...{ method, path, status: 400, code: 'invalid_json' },
      request: () => asAdmin({ headers: { 'content-type': 'application/json' }, body: '{"url":' }),
    },
    {
      title: 'an empty body',
      ...{ method, path, status: 400, code: 'invalid_json' },
      request: () => asAdmin({ headers: { 'content-type': 'application/json' }, body: '' }),
    },
  ]),

  ...['GET', 'DELETE'].flatMap(method =>
    ['/v1/webhooks/demanda.finalizada', '/v1/webhooks/demanda.inventada'].map(
      (path): Case => ({ title: path, method, path, request: asAdmin, status: 404, code: 'webhook_not_found' }),
    ),
  ),
  {
    title: 'replacing what is not there',
    ...{ method: 'PUT', path: '/v1/webhooks/demanda.finalizada', status: 404, code: 'webhook_not_found' },
    request: () => asAdmin({ body: { url } }),
  },
  {
    title: 'registering twice',
    ...{ method: 'POST', path: all, status: 409, code: 'webhook_exists' },
    request: () => asAdmin({ body: { evento: 'demanda.criada', url } }),
  },
];

describe('what webhook management refuses', () => {
  it.each(cases)('$method $path, $title: $status $code', async ({ method, path, request, status, code, headers }) => {
    const answer = await callApi(method, path, request());
    expectProblem(answer, status, code);
    expect(Object.fromEntries(answer.headers)).toMatchObject(headers ?? {});
  });
});
