import { beforeAll, describe, expect, it } from 'vitest';
import type { Client, User } from '../../tools/support/accounts.ts';
import { passwordGrant } from '../../tools/support/service-client.ts';
import { document } from '../support/contract/document.ts';
import { createClient, createUser, getTokens, logIn, postToken } from '../support/e2e-accounts.ts';
import { ops } from '../support/e2e-ops.ts';
import { authUrl } from '../support/e2e-target.ts';
import { callApi, expectProblem } from '../support/e2e-webhooks.ts';

// What every operation answers alike. The other suites go where one operation differs from the next; here each is asked for each
// of its common answers, which the set-up judges by docs/api/emissor.openapi.json.

const operations = Object.entries(document.paths)
  .filter(([path]) => path.startsWith('/v1/'))
  .flatMap(([path, item]) =>
    Object.keys(item)
      .filter(method => /^(?:get|post|put|delete)$/.test(method))
      .flatMap(method => (method === 'get' ? ['get', 'head'] : [method]))
      .map(method => ({
        method: method.toUpperCase(),
        path: path
          .replace('{evento}', 'demanda.criada')
          .replace('reenvios/{id}', 'reenvios/reenvio_0000000000000000000000')
          .replace('entregas/{id}', 'entregas/evt_000000000000000000000000000'),
      })),
  );
type Operation = (typeof operations)[number];
const takesBody = ({ method, path }: Operation) =>
  method === 'PUT' || (method === 'POST' && /(?:webhooks|segredo|reenvios)$/.test(path));
const mayHaveBody = ({ method }: Operation) => !['GET', 'HEAD'].includes(method); // fetch sends none with these
const isAboutOne = (operation: Operation) =>
  !takesBody(operation) && operation.path !== '/v1/webhooks' && !operation.path.endsWith('/entregas');
const json = { 'content-type': 'application/json' };

let client: Client;
let admin: User;
let tokens: Record<'admin' | 'member' | 'withoutScope', string>;
beforeAll(async () => {
  const [any, limited, user, member] = await Promise.all([
    createClient(),
    createClient(),
    createUser(),
    createUser({ role: 'member' }),
  ]);
  client = any;
  admin = user;
  const [adminTokens, memberTokens, narrow] = await Promise.all([
    logIn(any, admin),
    logIn(any, member),
    getTokens({ ...passwordGrant(limited, admin), scope: 'webhooks:read' }),
  ]);
  await ops(['clients', 'update', limited.clientId, '--scope', 'webhooks:manage']);
  tokens = {
    admin: adminTokens.access_token,
    member: memberTokens.access_token,
    withoutScope: narrow.access_token,
  };
});

const call = ({ method, path }: Operation, request: Parameters<typeof callApi>[2]) => callApi(method, path, request);

describe('who has no token, a bad one, no role or no scope', () => {
  it.each(operations)('is refused by $method $path', async operation => {
    const answers = await Promise.all([
      call(operation, {}),
      call(operation, { token: 'bad' }),
      call(operation, { token: tokens.member }),
      call(operation, { token: tokens.withoutScope }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 403, 403]);
    const codes = answers.map(({ json: body }) => body?.code);
    const told = ['token_missing', 'invalid_token', 'admin_required', 'insufficient_scope'];
    expect(codes).toEqual(operation.method === 'HEAD' ? told.map(() => undefined) : told);
  });
});

describe('a large body', () => {
  it.each(operations.filter(mayHaveBody))('is refused by $method $path', async operation => {
    const request = { token: tokens.admin, headers: json, body: JSON.stringify('x'.repeat(17_000)) };
    expectProblem(await call(operation, request), 413, 'payload_too_large');
  });
});

describe('what is no JSON, or not what it takes', () => {
  it.each(operations.filter(takesBody))('is refused by $method $path', async operation => {
    const send = (headers: Record<string, string>, body: string) =>
      call(operation, { token: tokens.admin, headers, body });
    expectProblem(await send({ 'content-type': 'text/plain' }, '{}'), 415, 'unsupported_media_type');
    expectProblem(await send(json, '{'), 400, 'invalid_json');
    expectProblem(await send(json, '{"campo":1}'), 422, 'validation_failed');
  });
});

describe('an account without webhooks', () => {
  it.each(operations.filter(isAboutOne))('is told so by $method $path', async operation => {
    const answer = await call(operation, { token: tokens.admin });
    expect(answer).toMatchObject({ status: 404 });
    expect(answer.json?.code).toBe(operation.method === 'HEAD' ? undefined : 'webhook_not_found');
  });
});

describe.each(['revoke', 'introspect'])('POST /oauth/v1/%s', endpoint => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const basic = (text: string) => ({ ...form, authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  const own = () => `client_id=${client.clientId}&client_secret=${client.clientSecret}`;
  const ownBasic = () => basic(`${client.clientId}:${client.clientSecret}`);
  const send = async (headers: Record<string, string>, body: string, query = '') => {
    const content = new TextEncoder().encode(body); // fetch would add a content type of its own to a string
    const response = await fetch(`${authUrl}/oauth/v1/${endpoint}${query}`, { method: 'POST', headers, body: content });
    const { error } = (await response.json()) as { error?: string };
    return [response.status, error];
  };

  it.each<[title: string, status: number, error: string, () => Parameters<typeof send>]>([
    ['JSON', 400, 'invalid_request', () => [json, '{}']],
    ['a large form', 413, 'invalid_request', () => [form, `token=${'x'.repeat(17_000)}`]],
    ['what cannot be decoded', 400, 'invalid_request', () => [form, 'token=%']],
    ['a parameter twice', 400, 'invalid_request', () => [form, 'token=1&token=2']],
    ['secrets in the query', 400, 'invalid_request', () => [form, own(), '?client_secret=1']],
    ['no client', 401, 'invalid_client', () => [form, 'token=1']],
    ['a client in two ways', 400, 'invalid_request', () => [ownBasic(), own()]],
    ['two clients', 400, 'invalid_request', () => [ownBasic(), 'client_id=another']],
    ['malformed Basic', 400, 'invalid_request', () => [{ ...form, authorization: 'Basic !' }, 'token=1']],
    ['another scheme', 401, 'invalid_client', () => [{ ...form, authorization: 'Bearer 1' }, own()]],
    ['a wrong secret', 401, 'invalid_client', () => [basic(`${client.clientId}:wrong`), 'token=1']],
    ['no token', 400, 'invalid_request', () => [form, own()]],
  ])('refuses %s', async (_title, status, error, request) => {
    expect(await send(...request())).toEqual([status, error]);
  });
});

it('refuses a scope that the client may not have', async () => {
  const limited = await createClient('--grant', 'password', '--scope', 'webhooks:read');
  const response = await postToken({ ...passwordGrant(limited, admin), scope: 'webhooks:manage' });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: 'invalid_scope' });
});
