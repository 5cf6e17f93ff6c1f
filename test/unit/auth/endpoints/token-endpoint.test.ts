import { KMSInternalException } from '@aws-sdk/client-kms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AuthService,
  audience,
  basic,
  formHeaders,
  issuer,
  startAuthService,
} from '../../../support/auth-service.ts';
import type { RequestDescription } from '../../../support/http-request.ts';

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
const without = (name: string) => Object.fromEntries(Object.entries(login()).filter(([field]) => field !== name));
const noHeaders: Record<string, string> = {};
const filler = (length: number) => 'x'.repeat(length);

/** One row of the table of refusals: request, response, and the source of the rule. */
interface Row {
  readonly name: string;
  readonly source: string;
  readonly request: () => RequestDescription;
  readonly status: number;
  readonly error: string;
  readonly headers?: Record<string, string>;
}

const bodyRow = (
  name: string,
  source: string,
  status: number,
  error: string,
  body: () => string | Uint8Array,
): Row => ({
  name,
  source,
  status,
  error,
  request: () => ({ body: body() }),
});

const authorizationRow = (
  name: string,
  status: number,
  error: string,
  authorization: () => string,
  fields: () => Record<string, string> = () => ({ grant_type: 'password', username, password }),
): Row => ({
  name,
  source: 'RFC 6749 2.3',
  status,
  error,
  request: () => ({ headers: { ...formHeaders, authorization: authorization() }, body: encode(fields()) }),
});

const typeRow = (contentType: string | undefined): Row => ({
  name: `content type ${contentType ?? 'absent'}`,
  source: 'RFC 6749 3.2',
  status: 400,
  error: 'invalid_request',
  request: () => ({
    headers: contentType === undefined ? noHeaders : { 'content-type': contentType },
    body: encode(login()),
  }),
});

const queryRow = (query: string): Row => ({
  name: `query string ?${query}`,
  source: 'RFC 6749 2.3.1',
  status: 400,
  error: 'invalid_request',
  request: () => ({ query, body: encode(login()) }),
});

const rows: readonly Row[] = [
  ...['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'].map(
    (method): Row => ({
      name: `method ${method}`,
      source: 'RFC 9110 15.5.6',
      status: 405,
      error: 'invalid_request',
      headers: { allow: 'POST' },
      request: () => ({ method, body: encode(login()) }),
    }),
  ),
  ...[
    undefined,
    '',
    'application/json',
    'multipart/form-data; boundary=x',
    'text/plain',
    'application/x-www-form-urlencodedx',
    'application/x-www-form-urlencoded; charset=iso-8859-1',
    'application/x-www-form-urlencoded; charset="latin1"',
    'application/x-www-form-urlencoded; charset=utf-8; charset=utf-16',
    'application/x-www-form-urlencoded, application/x-www-form-urlencoded',
  ].map(typeRow),
  bodyRow('body over 16 KiB', 'RFC 9110 15.5.14', 413, 'invalid_request', () => `x=${filler(16 * 1024)}`),
  bodyRow('a lone percent sign', 'RFC 6749 app. B', 400, 'invalid_request', () => `${encode(login())}&x=%`),
  bodyRow('percent and one digit', 'RFC 6749 app. B', 400, 'invalid_request', () => `${encode(login())}&x=%4`),
  bodyRow('percent and no digits', 'RFC 6749 app. B', 400, 'invalid_request', () => `${encode(login())}&%zz=1`),
  bodyRow('percent and a sign', 'RFC 6749 app. B', 400, 'invalid_request', () => `${encode(login())}&x=%+1`),
  bodyRow('invalid UTF-8, encoded', 'RFC 6749 app. B', 400, 'invalid_request', () => `${encode(login())}&x=%C3%28`),
  bodyRow('invalid UTF-8, raw', 'RFC 6749 app. B', 400, 'invalid_request', () =>
    Buffer.concat([Buffer.from(`${encode(login())}&x=`), Buffer.from([0xff, 0xfe])]),
  ),
  bodyRow('an encoded surrogate', 'RFC 6749 app. B', 400, 'invalid_request', () => `${encode(login())}&x=%ED%A0%80`),
  bodyRow('NUL in a value', 'RFC 6749 app. B', 400, 'invalid_request', () => `${encode(login())}&x=%00`),
  bodyRow('NUL in a name', 'RFC 6749 app. B', 400, 'invalid_request', () => `${encode(login())}&x%00=1`),
  bodyRow(
    'a known parameter twice',
    'RFC 6749 3.2',
    400,
    'invalid_request',
    () => `${encode(login())}&scope=a&scope=a`,
  ),
  bodyRow('a secret twice', 'RFC 6749 3.2', 400, 'invalid_request', () => `${encode(login())}&client_secret=x`),
  bodyRow('an unknown parameter twice', 'RFC 6749 3.2', 400, 'invalid_request', () => `${encode(login())}&x=1&%78=2`),
  bodyRow('an empty parameter twice', 'RFC 6749 3.2', 400, 'invalid_request', () => `${encode(login())}&x=&x`),
  ...['client_secret=x', 'password=x', 'refresh_token=x', 'a=1&password', 'client%5Fsecret=x', 'refresh_token=%zz'].map(
    queryRow,
  ),
  bodyRow('no body', 'RFC 6749 5.2', 400, 'invalid_request', () => ''),
  bodyRow('no grant_type', 'RFC 6749 5.2', 400, 'invalid_request', () => encode(without('grant_type'))),
  bodyRow('an empty grant_type', 'RFC 6749 5.2', 400, 'invalid_request', () => encode({ ...login(), grant_type: '' })),
  bodyRow('no client credentials', 'RFC 6749 5.2', 401, 'invalid_client', () =>
    encode({ grant_type: 'password', username, password }),
  ),
  bodyRow('an id without secret', 'RFC 6749 5.2', 401, 'invalid_client', () => encode(without('client_secret'))),
  bodyRow('an empty secret', 'RFC 6749 5.2', 401, 'invalid_client', () => encode({ ...login(), client_secret: '' })),
  bodyRow('a secret without id', 'RFC 6749 5.2', 401, 'invalid_client', () => encode(without('client_id'))),
  bodyRow('an unknown client', 'RFC 6749 5.2', 401, 'invalid_client', () =>
    encode({ ...login(), client_id: 'nobody' }),
  ),
  bodyRow('a client id no client can have', 'RFC 6749 5.2', 401, 'invalid_client', () =>
    encode({ ...login(), client_id: filler(5_000) }),
  ),
  bodyRow('a wrong secret', 'RFC 6749 5.2', 401, 'invalid_client', () =>
    encode({ ...login(), client_secret: 'wrong' }),
  ),
  authorizationRow('Basic and a body secret', 400, 'invalid_request', () => basic(id, secret), login),
  authorizationRow(
    'two client ids',
    400,
    'invalid_request',
    () => basic(id, secret),
    () => ({
      grant_type: 'password',
      client_id: 'another',
      username,
      password,
    }),
  ),
  authorizationRow('Basic that is not base64', 400, 'invalid_request', () => 'Basic %%%'),
  authorizationRow('Basic without padding', 400, 'invalid_request', () => 'Basic YTpiYw'),
  authorizationRow('Basic in base64url', 400, 'invalid_request', () => 'Basic YTo_Pz8-'),
  authorizationRow('Basic without colon', 400, 'invalid_request', () => `Basic ${Buffer.from(id).toString('base64')}`),
  authorizationRow('Basic with bad percent-encoding', 400, 'invalid_request', () => basic(id, '%zz')),
  authorizationRow('Basic with invalid UTF-8', 400, 'invalid_request', () => basic(id, '%ff')),
  authorizationRow('Basic with nothing behind it', 400, 'invalid_request', () => 'Basic'),
  authorizationRow('Basic twice, as gateways join headers', 400, 'invalid_request', () =>
    [basic(id, secret), basic(id, secret)].join(','),
  ),
  authorizationRow('Basic with a wrong secret', 401, 'invalid_client', () => basic(id, 'wrong')),
  authorizationRow('Basic with an empty secret', 401, 'invalid_client', () => basic(id, '')),
  authorizationRow('Basic with an empty id', 401, 'invalid_client', () => basic('', secret)),
  authorizationRow('another scheme beside good body credentials', 401, 'invalid_client', () => 'Bearer abc', login),
  bodyRow('an unsupported grant', 'RFC 6749 5.2', 400, 'unsupported_grant_type', () =>
    encode({ ...login(), grant_type: 'client_credentials' }),
  ),
  bodyRow('a grant named like an object member', 'RFC 6749 5.2', 400, 'unsupported_grant_type', () =>
    encode({ ...login(), grant_type: 'constructor' }),
  ),
  bodyRow('no username', 'RFC 6749 4.3.2', 400, 'invalid_request', () => encode(without('username'))),
  bodyRow('an empty username', 'RFC 6749 4.3.2', 400, 'invalid_request', () => encode({ ...login(), username: '' })),
  bodyRow('no password', 'RFC 6749 4.3.2', 400, 'invalid_request', () => encode(without('password'))),
  ...['%20', '+', '%C2%A0', '%EF%BB%BF%09'].map(blank =>
    bodyRow(
      `a username of blanks, ${blank}`,
      'RFC 6749 4.3.2',
      400,
      'invalid_request',
      () => `${encode(without('username'))}&username=${blank}`,
    ),
  ),
  bodyRow('an empty password', 'RFC 6749 4.3.2', 400, 'invalid_request', () => encode({ ...login(), password: '' })),
  bodyRow('no refresh_token', 'RFC 6749 6', 400, 'invalid_request', () =>
    encode({ grant_type: 'refresh_token', client_id: id, client_secret: secret }),
  ),
  bodyRow('an empty refresh_token', 'RFC 6749 6', 400, 'invalid_request', () =>
    encode({ grant_type: 'refresh_token', client_id: id, client_secret: secret, refresh_token: '' }),
  ),
  bodyRow('a username over 254 bytes', 'docs/en/errors.md', 400, 'invalid_request', () =>
    encode({ ...login(), username: 'é'.repeat(128) }),
  ),
  bodyRow('a password over 1,024 bytes', 'docs/en/errors.md', 400, 'invalid_request', () =>
    encode({ ...login(), password: 'é'.repeat(513) }),
  ),
  bodyRow('a refresh token over 512 bytes', 'docs/en/errors.md', 400, 'invalid_request', () =>
    encode({ grant_type: 'refresh_token', client_id: id, client_secret: secret, refresh_token: filler(513) }),
  ),
  bodyRow('an unknown scope', 'RFC 6749 3.3', 400, 'invalid_scope', () => encode({ ...login(), scope: 'everything' })),
  bodyRow('a known and an unknown scope', 'RFC 6749 3.3', 400, 'invalid_scope', () =>
    encode({ ...login(), scope: 'webhooks:read everything' }),
  ),
  bodyRow('scopes with two spaces between', 'RFC 6749 3.3', 400, 'invalid_scope', () =>
    encode({ ...login(), scope: 'webhooks:read  webhooks:manage' }),
  ),
  bodyRow('a wrong password', 'RFC 6749 5.2', 400, 'invalid_grant', () => encode({ ...login(), password: 'wrong' })),
  bodyRow('an unknown user', 'RFC 6749 5.2', 400, 'invalid_grant', () => encode({ ...login(), username: 'no@body' })),
  bodyRow('a forged refresh token', 'RFC 6749 5.2', 400, 'invalid_grant', () =>
    encode({ grant_type: 'refresh_token', client_id: id, client_secret: secret, refresh_token: 'a-b.1.c.canary' }),
  ),
];

describe('a refused token request', () => {
  it.each(rows)('$name: $status $error ($source)', async ({ request, status, error, headers = {} }) => {
    const answer = await service.send('token', request());
    expect(answer.json).toEqual({ error, error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/) });
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      ...(status === 401 ? { 'www-authenticate': 'Basic realm="oauth", error="invalid_client"' } : {}),
      ...headers,
    });
    expect('www-authenticate' in answer.headers).toBe(status === 401);
    for (const given of [secret, username, password]) expect(answer.text).not.toContain(given);
  });

  it('accepts the spellings of content types, fields and sizes that the standards allow', async () => {
    const accepted: RequestDescription[] = [
      { headers: { 'content-type': 'APPLICATION/X-WWW-FORM-URLENCODED ; Charset="UTF-8"' } },
      { headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF8' } },
      { query: 'a=1&pass=2&%zz=3' },
      { body: `&${encode(login())}&&x=&y` },
      { body: `${encode(login())}&x=${filler(16 * 1024 - encode(login()).length - 3)}` },
    ];
    for (const description of accepted) {
      expect(await service.send('token', { body: encode(login()), ...description })).toMatchObject({ status: 200 });
    }
  });

  it('gives one answer for every failed client authentication', async () => {
    const disabled = await service.makeClient();
    await service.clients.setClientStatus(disabled.id, 'disabled');
    const expired = await service.makeClient();
    await service.clients.rotateClientSecret(expired.id, { overlapSeconds: 0 });
    const answers = await Promise.all(
      [
        { client_id: 'nobody', client_secret: secret },
        { client_id: id, client_secret: 'wrong' },
        { client_id: disabled.id, client_secret: disabled.secret },
        { client_id: expired.id, client_secret: expired.secret },
      ].map(credentials => service.post('token', { ...login(), ...credentials })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
  });

  it.each([['password'], ['refresh_token']] as const)(
    'refuses %s to a client that is not allowed to use it',
    async grant => {
      const other = await service.makeClient({ grants: grant === 'password' ? ['refresh_token'] : ['password'] });
      const credentials = { client_id: other.id, client_secret: other.secret };
      const answer = await service.post('token', { ...login(), ...credentials, grant_type: grant, refresh_token: 'x' });
      expect(answer).toMatchObject({ status: 400, json: { error: 'unauthorized_client' } });
    },
  );
});

describe('the order of the checks', () => {
  const bad = () => ({ grant_type: '', client_id: id, client_secret: 'wrong', password: '' });
  const first = [
    ['method', { method: 'GET', headers: {}, query: 'password=x', body: '%' }, 'method must be POST'],
    ['content type', { headers: {}, query: 'password=x', body: `%${filler(20_000)}` }, 'content type'],
    ['size', { query: 'password=x', body: `%${filler(20_000)}` }, 'larger than'],
    ['decoding', { query: 'password=x', body: 'a=1&a=2&x=%' }, 'well-formed'],
    ['duplicates', { query: 'password=x', body: 'a=1&a=2' }, 'more than once'],
    ['query-string secrets', { query: 'password=x', body: 'a=1' }, 'query string'],
    ['grant_type', { body: encode({ client_id: 'nobody' }) }, 'grant_type is required'],
  ] as const;

  it.each(first)('%s comes before the next', async (_, request, description) => {
    const answer = await service.send('token', request);
    expect(answer.json.error_description).toContain(description);
  });

  it('client, then grant, then parameters, then user', async () => {
    const noPassword = await service.makeClient({ grants: ['refresh_token'] });
    const steps = [
      [{ ...bad(), grant_type: 'unknown' }, 'invalid_client'],
      [{ ...bad(), grant_type: 'unknown', client_secret: secret }, 'unsupported_grant_type'],
      [{ grant_type: 'password', client_id: noPassword.id, client_secret: noPassword.secret }, 'unauthorized_client'],
      [{ ...login(), username: '', scope: 'unknown' }, 'invalid_request'],
      [{ ...login(), password: 'wrong', scope: 'unknown' }, 'invalid_scope'],
      [{ ...login(), password: 'wrong' }, 'invalid_grant'],
    ] as const;
    for (const [fields, error] of steps) expect((await service.post('token', fields)).json.error).toBe(error);
  });
});

describe('a granted token request', () => {
  it('gives both tokens, the lifetime of the access token, and the scope (RFC 6749 5.1)', async () => {
    const answer = await service.post('token', login());
    expect(answer.status).toBe(200);
    expect(answer.headers).toEqual({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    });
    expect(answer.json).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 900,
      refresh_token: expect.any(String),
      scope: 'webhooks:read webhooks:manage',
    });
    const [header, claims] = answer.json.access_token
      .split('.', 2)
      .map((part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    const now = Math.floor(service.clock.now() / 1_000);
    expect(header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    const { user } = { user: await service.users.findUserByEmail(username) };
    expect(claims).toEqual({
      iss: issuer,
      aud: audience,
      sub: user?.userId,
      client_id: id,
      account_id: 'acme',
      sid: expect.stringContaining(`${user?.userId}-`),
      scope: 'webhooks:read webhooks:manage',
      iat: now,
      exp: now + 900,
      jti: expect.any(String),
    });
  });

  it.each([
    ['in the body', () => ({})],
    ['by Basic', () => ({ authorization: basic(id, secret) })],
    ['by Basic, the scheme in lower case', () => ({ authorization: basic(id, secret).replace('Basic', 'basic') })],
    ['by Basic, percent-encoded', () => ({ authorization: basic(id.replace(/./, hex), secret.replace(/./, hex)) })],
  ])('takes the client credentials %s (RFC 6749 2.3.1)', async (_, headers) => {
    const given = headers();
    const fields = 'authorization' in given ? { grant_type: 'password', client_id: id, username, password } : login();
    expect(await service.post('token', fields, { headers: given })).toMatchObject({ status: 200 });
  });

  it('finds the user however the e-mail address is typed', async () => {
    const typed = `  ${username.toUpperCase()} `;
    expect(await service.post('token', { ...login(), username: typed })).toMatchObject({ status: 200 });
  });

  it('gives no refresh token to a client without the refresh grant', async () => {
    const other = await service.makeClient({ grants: ['password'] });
    const answer = await service.post('token', { ...login(), client_id: other.id, client_secret: other.secret });
    expect(answer.status).toBe(200);
    expect(answer.json).not.toHaveProperty('refresh_token');
  });

  it.each([
    ['admin', undefined, 'webhooks:read webhooks:manage'],
    ['admin', '', 'webhooks:read webhooks:manage'],
    ['admin', 'webhooks:read', 'webhooks:read'],
    ['admin', 'webhooks:read webhooks:read', 'webhooks:read'],
    ['admin', 'webhooks:read webhooks:manage', 'webhooks:read webhooks:manage'],
    ['member', undefined, undefined],
  ] as const)('an %s who asks for %s gets %s (RFC 6749 3.3)', async (role, asked, given) => {
    const user = await service.makeUser({ role });
    const credentials = { username: user.username, password: user.password };
    const fields: Record<string, string> = { ...login(), ...credentials };
    if (asked !== undefined) fields.scope = asked;
    const answer = await service.post('token', fields);
    expect(answer.status).toBe(200);
    expect(answer.json.scope).toBe(given);
  });
});

describe('a failing dependency', () => {
  it.each([
    ['ThrottlingException', 503, 'temporarily_unavailable', '1'],
    ['TimeoutError', 503, 'temporarily_unavailable', '1'],
    ['DependencyTimeoutException', 503, 'temporarily_unavailable', '1'],
    ['AccessDeniedException', 500, 'server_error', undefined],
  ])('KMS answers %s: %i %s', async (failure, status, error, retryAfter) => {
    const fresh = await startAuthService();
    try {
      const client = await fresh.makeClient();
      fresh.kms.fail('DecryptCommand', failure);
      const answer = await fresh.post('token', { ...login(), client_id: client.id, client_secret: client.secret });
      expect(answer).toMatchObject({ status, json: { error }, headers: { 'cache-control': 'no-store' } });
      expect(answer.headers['retry-after']).toBe(retryAfter);
      expect(answer.text).not.toContain('KMS');
      // the client is authenticated first
      const wrong = { ...login(), client_id: client.id, client_secret: 'wrong' };
      expect(await fresh.post('token', wrong)).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
    } finally {
      await fresh.stop();
    }
  });

  it('is counted as such, and not as an error of ours', async () => {
    const fresh = await startAuthService();
    try {
      const client = await fresh.makeClient();
      fresh.kms.fail('DecryptCommand', new KMSInternalException({ message: '…', $metadata: { httpStatusCode: 500 } }));
      const answer = await fresh.post('token', { ...login(), client_id: client.id, client_secret: client.secret });
      expect(answer).toMatchObject({ status: 503, json: { error: 'temporarily_unavailable' } });
      expect(fresh.metrics).toContain('DependencyUnavailable');
      expect(fresh.metrics).not.toContain('ServerError');
    } finally {
      await fresh.stop();
    }
  });
});

describe('the audit trail', () => {
  it('has a line and a metric for every request so far, without secrets', () => {
    const trail = service.logs.join('\n');
    for (const word of ['"outcome":"granted"', '"outcome":"refused"', '"ip":"203.0.113.7"', `"clientId":"${id}"`]) {
      expect(trail).toContain(word);
    }
    for (const hidden of [secret, password, username, 'nobody', 'no@body', 'canary', 'Basic ']) {
      expect(trail).not.toContain(hidden);
    }
    expect(service.metrics.length).toBeGreaterThanOrEqual(service.logs.length);
    expect(service.metrics).toEqual(
      expect.arrayContaining(['TokenIssued', 'InvalidClient', 'InvalidGrant', 'InvalidScope']),
    );
  });
});

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16)}`;
