import { KMSInternalException } from '@aws-sdk/client-kms';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { clientCredentials } from '../../../../lambdas/auth/endpoints/client-credentials.ts';
import { oauthCases } from '../../../../lambdas/auth/routes.ts';
import { type AuthService, authEnvironment, basic, startAuthService } from '../../../support/auth-service.ts';
import type { RequestDescription } from '../../../support/http-request.ts';
import { processorTimeOf } from '../../../support/processor-time.ts';

// Tests the token endpoint (RFC 6749 sections 2.3, 3.2, 5.1). test/e2e/form-errors.e2e.test.ts tests rejected forms.

let service: AuthService;
let id: string;
let secret: string;
let username: string;
let password: string;
beforeAll(async () => {
  service = await startAuthService();
  ({ id, secret } = await service.makeClient());
  ({ username, password } = await service.makeUser());
});
afterAll(() => service.stop());

const encode = (fields: Record<string, string>): string => new URLSearchParams(fields).toString();
const login = () => ({ grant_type: 'password', client_id: id, client_secret: secret, username, password });
const filler = (length: number) => 'x'.repeat(length);

it('A token request may use every form of content type, field and size that the standards allow.', async () => {
  const accepted: RequestDescription[] = [
    { headers: { 'content-type': 'APPLICATION/X-WWW-FORM-URLENCODED ; Charset="UTF-8"' } },
    { query: 'a=1&pass=2&%zz=3' },
    { body: `&${encode(login())}&&x=&y` },
    { body: `${encode(login())}&x=${filler(16 * 1024 - encode(login()).length - 3)}` },
  ];
  for (const description of accepted)
    expect(await service.send('token', { body: encode(login()), ...description })).toMatchObject({ status: 200 });
});

describe('The token endpoint', () => {
  const invalidLogin = () => ({ grant_type: '', client_id: id, client_secret: 'wrong', password: '' });
  const checks = [
    ['method', { method: 'GET', headers: {}, query: 'password=x', body: '%' }, 'method_not_post'],
    ['content type', { headers: {}, query: 'password=x', body: `%${filler(20_000)}` }, 'content_type'],
    ['size', { query: 'password=x', body: `%${filler(20_000)}` }, 'body_too_large'],
    ['decoding', { query: 'password=x', body: 'a=1&a=2&x=%' }, 'malformed_form'],
    ['duplicates', { query: 'password=x', body: 'a=1&a=2' }, 'duplicate_parameter'],
    ['query-string secrets', { query: 'password=x', body: 'a=1' }, 'secret_in_query'],
    ['grant_type', { body: encode({ client_id: 'nobody' }) }, 'grant_type_missing'],
  ] as const;

  it.each(checks)('checks the %s before the following steps.', async (_, request, reported) => {
    const { json } = await service.send('token', request);
    expect(json.error_description).toBe(oauthCases[reported][2]);
  });

  it('checks the client before the grant, the parameters and the user.', async () => {
    const noPassword = await service.makeClient({ grants: ['refresh_token'] });
    const steps = [
      [{ ...invalidLogin(), grant_type: 'unknown' }, 'invalid_client'],
      [{ ...invalidLogin(), grant_type: 'unknown', client_secret: secret }, 'unsupported_grant_type'],
      [{ grant_type: 'password', client_id: noPassword.id, client_secret: noPassword.secret }, 'unauthorized_client'],
      [{ ...login(), username: '', scope: 'unknown' }, 'invalid_request'],
      [{ ...login(), password: 'wrong', scope: 'unknown' }, 'invalid_scope'],
      [{ ...login(), password: 'wrong' }, 'invalid_grant'],
    ] as const;
    for (const [fields, error] of steps) expect((await service.post('token', fields)).json.error).toBe(error);
  });

  it('returns both tokens, the lifetime of the access token and the scope (RFC 6749 section 5.1).', async () => {
    const response = await service.post('token', login());
    expect(response.status).toBe(200);
    const uncached = { 'cache-control': 'no-store', pragma: 'no-cache' };
    expect(response.headers).toEqual({ 'content-type': 'application/json', ...uncached });
    const [any, scope] = [expect.any(String), 'webhooks:read webhooks:manage'];
    const tokens = { access_token: any, refresh_token: any };
    expect(response.json).toEqual({ ...tokens, token_type: 'Bearer', expires_in: 900, scope });
    const [header, claims] = response.json.access_token
      .split('.', 2)
      .map((part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    const now = Math.floor(service.clock.now() / 1_000);
    expect(header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    const { issuer: iss, audience: aud } = authEnvironment;
    const sub = (await service.users.findUserByEmail(username))?.userId;
    const sid = expect.stringContaining(`${sub}-`);
    const owner = { sub, client_id: id, account_id: 'acme', sid, scope };
    expect(claims).toEqual({ iss, aud, ...owner, iat: now, exp: now + 900, jti: expect.any(String) });
  });

  it.each([
    ['by Basic', () => basic(id, secret)],
    ['by Basic with the scheme in lower case', () => basic(id, secret).replace('Basic', 'basic')],
    ['by Basic after many blanks', () => basic(id, secret).replace(' ', ' \t '.repeat(3_000))],
    ['by Basic with percent-encoding', () => basic(id.replace(/./, hex), secret.replace(/./, hex))],
  ])('accepts the client credentials %s (RFC 6749 section 2.3.1).', async (_, authorization) => {
    const fields = { grant_type: 'password', client_id: id, username, password };
    const headers = { authorization: authorization() };
    expect(await service.post('token', fields, { headers })).toMatchObject({ status: 200 });
  });

  it.each(['', 'Basic Og==', 'Bearer stale', 'Bearer', 'bearer a,Basic b', 'Negotiate YII=', 'Basicx Og=='])(
    'accepts the client credentials in the body if the Authorization header is %j.',
    async authorization => {
      expect(await service.post('token', login(), { headers: { authorization } })).toMatchObject({ status: 200 });
    },
  );

  it.each(['\n', '\r', '\u2028', '\u2029'])('parses Basic with blanks before %j in linear time.', async separator => {
    const authorization = (blanks: number) => `Basic${' '.repeat(blanks)}${separator}${basic(id, secret).slice(6)}`;
    const response = await service.post('token', login(), { headers: { authorization: authorization(9_000) } });
    expect(response).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    expect(processorTimeOf(() => clientCredentials(authorization(100_000), new Map()))).toBeLessThan(500);
  });

  it('accepts an e-mail address that exceeds the limit only before normalisation.', async () => {
    const email = `${'\u00e9'.repeat(110)}${id}@example.com`.toLowerCase();
    await service.users.createUser({ email, password, accountId: 'acme', role: 'admin' });
    const typed = ` ${email.normalize('NFD')} `;
    expect(Buffer.byteLength(typed)).toBeGreaterThan(254);
    expect(await service.post('token', { ...login(), username: typed })).toMatchObject({ status: 200 });
    const tooLong = { status: 400, json: { error: 'invalid_request' } };
    for (const longer of ['e\u0301'.repeat(128), '\u0301\u0316'.repeat(1_200)]) {
      expect(await service.post('token', { ...login(), username: longer })).toMatchObject(tooLong);
    }
  });

  it('returns no refresh token to a client without the refresh grant.', async () => {
    const other = await service.makeClient({ grants: ['password'] });
    const response = await service.post('token', { ...login(), client_id: other.id, client_secret: other.secret });
    expect(response.status).toBe(200);
    expect(response.json).not.toHaveProperty('refresh_token');
  });

  it.each([
    ['admin', undefined, 'webhooks:read webhooks:manage'],
    ['admin', '', 'webhooks:read webhooks:manage'],
    ['admin', 'webhooks:read', 'webhooks:read'],
    ['admin', 'webhooks:read webhooks:manage', 'webhooks:read webhooks:manage'],
    ['member', undefined, undefined],
  ] as const)('for role %s and scope %j returns scope %j (RFC 6749 section 3.3).', async (role, requested, granted) => {
    const user = await service.makeUser({ role });
    const credentials = { username: user.username, password: user.password };
    const fields: Record<string, string> = { ...login(), ...credentials };
    if (requested !== undefined) fields.scope = requested;
    const response = await service.post('token', fields);
    expect(response.status).toBe(200);
    expect(response.json.scope).toBe(granted);
  });
});

describe('A token request', () => {
  const errorNamed = (name: string) => Object.assign(new Error(), { name });
  it.each([
    [errorNamed('ThrottlingException'), 503],
    [errorNamed('TimeoutError'), 503],
    [errorNamed('DependencyTimeoutException'), 503],
    [new KMSInternalException({ message: '…', $metadata: { httpStatusCode: 500 } }), 503],
    [errorNamed('AccessDeniedException'), 500],
  ])('that fails in KMS with %s returns %i.', async (reason, status) => {
    const fresh = await startAuthService();
    onTestFinished(() => fresh.stop());
    vi.spyOn(fresh.kms, 'send').mockRejectedValue(reason);
    const client = await fresh.makeClient();
    const response = await fresh.post('token', { ...login(), client_id: client.id, client_secret: client.secret });
    const isBusy = status === 503;
    const error = isBusy ? 'temporarily_unavailable' : 'server_error';
    expect(response).toMatchObject({ status, json: { error }, headers: { 'cache-control': 'no-store' } });
    expect(response.headers['retry-after']).toBe(isBusy ? '1' : undefined);
    expect(response.text).not.toContain('KMS');
    expect(fresh.logs.join()).toContain(isBusy ? '"dependency.unavailable"' : '"request.failed"');
    if (isBusy) expect(fresh.metrics).not.toContain('ServerError'); // it is not an error of this service
    // The endpoint authenticates the client before it calls KMS.
    const wrong = { ...login(), client_id: client.id, client_secret: 'wrong' };
    expect(await fresh.post('token', wrong)).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
  });
});

it('Every request of this suite adds a line without secrets to the audit trail and counts a metric.', () => {
  const trail = service.logs.join('\n');
  for (const word of ['"outcome":"granted"', '"outcome":"refused"', '"ip":"203.0.113.7"', `"clientId":"${id}"`])
    expect(trail).toContain(word);
  for (const hidden of [secret, password, username, 'nobody', 'no@body', 'canary', 'Basic '])
    expect(trail).not.toContain(hidden);
  expect(service.metrics.length).toBeGreaterThanOrEqual(service.logs.length);
});

it('A smoke test adds lines to the audit trail, but its successes count no metric.', async () => {
  const fresh = await startAuthService();
  onTestFinished(() => fresh.stop());
  const client = await fresh.makeClient();
  const user = await fresh.makeUser({ accountId: '_smoke' });
  const { json } = await fresh.logIn(client, user);
  await fresh.post('revoke', { client_id: client.id, client_secret: client.secret, token: json.refresh_token });
  const lines = fresh.logs.map(line => JSON.parse(line));
  expect(lines.map(([message, { account }]) => [message, account])).toEqual([
    ['token.granted', '_smoke'],
    ['revoke.granted', '_smoke'],
  ]);
  expect(fresh.metrics).toEqual([]);
  await fresh.logIn(client, { ...user, password: 'wrong' });
  expect(fresh.metrics).toEqual(['InvalidGrant']);
});

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16)}`;
