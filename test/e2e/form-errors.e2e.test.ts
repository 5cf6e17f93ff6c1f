import { beforeAll, describe, expect, it } from 'vitest';
import { type OAuthCase, oauthCases } from '../../lambdas/auth/routes.ts';
import { unique } from '../../tools/support/accounts.ts';
import { passwordGrant, refreshGrant } from '../../tools/support/service-client.ts';
import { ops } from '../support/e2e-ops.ts';
import { createClient, createUser, getTokens, logIn } from '../support/e2e-service.ts';
import { authUrl } from '../support/e2e-target.ts';

// The form endpoints of {auth_url} reject each of these requests (RFC 6749, 7009, 7617, 7662; docs/en/errors.md).

type Fixture = Awaited<ReturnType<typeof makeFixture>>;
type Form = Readonly<Record<string, string>>;

/** A request to an endpoint that reads a form. The default method is POST. */
interface Request {
  readonly method?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The fields of a form, or the encoded body. */
  readonly body?: Form | string | Uint8Array<ArrayBuffer>;
}

/** Changes a form that the endpoint accepts into a request that the endpoint rejects. */
type MakeRequest = (form: Form, fixture: Fixture) => Request;

/** Rejected requests, by case and title. */
type Cases = { readonly [Case in OAuthCase]?: Readonly<Record<string, MakeRequest>> };

const formType = { 'content-type': 'application/x-www-form-urlencoded' };
const encode = (fields: Form) => new URLSearchParams(fields).toString();
const without = (form: Form, ...names: string[]) =>
  Object.fromEntries(Object.entries(form).filter(([name]) => !names.includes(name)));
const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
const ownBasic = ({ client }: Fixture) => basic(client.clientId, client.clientSecret);

const set = (fields: Form) => (form: Form) => ({ body: { ...form, ...fields } });
const add = (more: string) => (form: Form) => ({ body: `${encode(form)}&${more}` });
const drop =
  (...names: string[]) =>
  (form: Form) => ({ body: without(form, ...names) });
/** Sends the credentials of the client in a header, and additional fields in the form. */
const header =
  (authorization: string | ((fixture: Fixture) => string), more: (form: Form) => Form = () => ({})): MakeRequest =>
  (form, fixture) => ({
    headers: { ...formType, authorization: typeof authorization === 'string' ? authorization : authorization(fixture) },
    body: { ...without(form, 'client_id', 'client_secret'), ...more(form) },
  });
const rows = (titles: readonly string[], makeRequest: (title: string) => MakeRequest) =>
  Object.fromEntries(titles.map(title => [title, makeRequest(title)]));

/** The requests that all three endpoints reject. */
const shared: Cases = {
  // RFC 9110 section 15.5.6
  method_not_post: rows(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], method => form => ({ method, body: form })),

  // RFC 6749 section 3.2
  content_type: {
    absent: form => ({ headers: {}, body: encode(form) }),
    ...rows(
      [
        '',
        'application/json',
        'multipart/form-data; boundary=x',
        'text/plain',
        'application/x-www-form-urlencodedx',
        'application/x-www-form-urlencoded; charset=utf-16',
        'application/x-www-form-urlencoded;Charset = "UTF-16LE"',
        'application/x-www-form-urlencoded; charset=utf32',
        'application/x-www-form-urlencoded; charset=utf-8; charset=UTF-32BE',
        'application/x-www-form-urlencoded, application/x-www-form-urlencoded',
        'application/x-www-form-urlencoded;charset=utf-8, application/json',
      ],
      type => form => ({ headers: { 'content-type': type }, body: encode(form) }),
    ),
  },
  body_too_large: { 'over 16 KiB': form => ({ body: `${encode(form)}&padding=`.padEnd(16_385, 'x') }) },

  // RFC 6749 appendix B, WHATWG URL section 5.1
  malformed_form: {
    ...rows(['x=%zz', 'x=%4', 'x=%', 'x=%+1', 'x=%ff', 'x=%c3%28', 'x=%ed%a0%80', 'x=a%00b', 'x=%C0%AF'], add),
    ...rows(['%zz=1', 'x%00=1'], add),
    'bytes that are not UTF-8': form => ({
      body: Uint8Array.from([...Buffer.from(`${encode(form)}&x=`), 0xff, 0xfe]),
    }),
    ...rows(['x=%E7%E3o', 'x=\xe7\xe3o'], latin1 => form => ({
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=ISO-8859-1' },
      body: Uint8Array.from(Buffer.from(`${encode(form)}&${latin1}`, 'latin1')),
    })),
  },

  // RFC 6749 sections 3.2 and 2.3.1
  duplicate_parameter: rows(
    ['client_id=x', 'client_secret=x', 'scope=a&scope=a', 'scope=&scope=', 'unknown=1&unknown=1', 'x=1&%78=2', 'x=&x'],
    add,
  ),
  secret_in_query: rows(
    ['client_secret=x', 'password=x', 'refresh_token=x', 'a=1&password', 'client%5Fsecret=x', 'refresh_token=%zz'],
    query => form => ({ query, body: form }),
  ),

  // RFC 6749 sections 2.3 and 5.2, RFC 7617 section 2
  client_missing: {
    'no client': drop('client_id', 'client_secret'),
    'no secret': drop('client_secret'),
    'no id': drop('client_id'),
    'an empty secret': set({ client_secret: '' }),
    'Basic with an empty secret': header(({ client }) => basic(client.clientId, '')),
    'Basic with an empty id': header(({ client }) => basic('', client.clientSecret)),
    'Basic with neither': header(basic('', '')),
    'another scheme alone': header('Bearer stale'),
    'another scheme, and an id without a secret': header('Bearer stale', ({ client_id = '' }) => ({ client_id })),
  },
  client_credentials_duplicated: {
    'Basic and a secret in the body': header(ownBasic, form => form),
    'Basic without a secret, and one in the body': header(
      ({ client }) => basic(client.clientId, ''),
      form => form,
    ),
    'Basic without an id, and a secret in the body': header(basic('', 'x'), form => form),
  },
  client_ids_differ: { 'Basic and another id in the body': header(ownBasic, () => ({ client_id: 'another' })) },
  basic_malformed: {
    'not base64': header('Basic !!!'),
    'percent signs': header('Basic %%%'),
    'no padding': header('Basic YTpiYw'),
    base64url: header('Basic YTo_Pz8-'),
    'no colon': header(`Basic ${Buffer.from('nocolon').toString('base64')}`),
    'malformed percent-encoding': header(basic('id', '%zz')),
    'percent-encoded bytes that are not UTF-8': header(basic('id', '%ff')),
    'invalid UTF-8': header(`Basic ${Buffer.from([0xff, 0x3a, 0xff]).toString('base64')}`),
    'only the scheme': header('Basic'),
    'two headers, joined like a gateway does': header(fixture => `${ownBasic(fixture)},${ownBasic(fixture)}`),
  },
  // The response is the same for every reason.
  client_rejected: {
    'Basic with a wrong secret': header(({ client }) => basic(client.clientId, 'wrong')),
    'an unknown client': set({ client_id: 'nobody' }),
    'an id that no client can have': set({ client_id: 'x'.repeat(5_000) }),
    'a wrong secret': set({ client_secret: 'wrong' }),
    'a disabled client': (form, { disabledClient: { clientId: client_id, clientSecret: client_secret } }) => ({
      body: { ...form, client_id, client_secret },
    }),
  },
};

const refresh =
  (tokenOf: string | ((refreshToken: string) => string)): MakeRequest =>
  (_, { client, refreshToken }) => ({
    body: refreshGrant(client, typeof tokenOf === 'string' ? tokenOf : tokenOf(refreshToken)),
  });

// RFC 7009 section 2.1, RFC 7662 section 2.1
const tokenErrors: Cases = { token_missing: { 'no token': drop('token'), 'an empty token': set({ token: '' }) } };

const cases: Readonly<Record<'token' | 'revoke' | 'introspect', Cases>> = {
  token: {
    grant_type_missing: { 'no body': () => ({}), 'no grant type': drop('grant_type'), empty: set({ grant_type: '' }) },
    duplicate_parameter: rows(['grant_type=password', 'username=someone'], add),
    // The endpoint checks the client before the other parameters.
    client_rejected: {
      'an unknown client with a blank username': set({ client_id: 'nobody', username: ' ' }),
      'another grant type with a wrong secret': set({ grant_type: 'authorization_code', client_secret: 'wrong' }),
    },
    grant_unsupported: rows(['authorization_code', 'client_credentials', 'Password', 'constructor'], grant_type =>
      set({ grant_type }),
    ),
    grant_not_allowed: {
      password: (_, { refreshOnly, user }) => ({ body: passwordGrant(refreshOnly, user) }),
      refresh_token: (_, { passwordOnly }) => ({ body: without(refreshGrant(passwordOnly, 'x'), 'refresh_token') }),
    },
    // RFC 6749 sections 4.3.2 and 6
    username_missing: {
      'no username': drop('username'),
      empty: set({ username: '' }),
      ...rows(['%20', '+', '%C2%A0', '%09%C2%A0', '%EF%BB%BF%09'], blank => form => ({
        body: `${encode(without(form, 'username'))}&username=${blank}`,
      })),
    },
    password_missing: { 'no password': drop('password'), empty: set({ password: '' }) },
    refresh_token_missing: {
      'no token': (_, { client }) => ({ body: without(refreshGrant(client, 'x'), 'refresh_token') }),
      empty: refresh(''),
    },
    username_too_long: { 'over 254 bytes': set({ username: `${'é'.repeat(121)}x@example.com` }) },
    password_too_long: { 'over 1,024 bytes': set({ password: `${'é'.repeat(512)}x` }) },
    refresh_token_too_long: { 'over 512 bytes': refresh('x'.repeat(513)) },
    // RFC 6749 section 3.3
    scope_invalid: rows(
      ['everything', 'webhooks:read everything', 'webhooks:read,webhooks:manage', 'Webhooks:read'],
      scope => set({ scope }),
    ),
    scope_of_another_client: {
      'webhooks:manage': (_, { narrowClient, user }) => ({
        body: { ...passwordGrant(narrowClient, user), scope: 'webhooks:manage' },
      }),
    },
    scope_of_no_role: {
      'webhooks:read': (_, { client, member }) => ({
        body: { ...passwordGrant(client, member), scope: 'webhooks:read' },
      }),
    },
    scope_wider: {
      'webhooks:manage': (_, { client, narrowToken }) => ({
        body: { ...refreshGrant(client, narrowToken), scope: 'webhooks:manage' },
      }),
    },
    // The response is the same for every reason.
    credentials_rejected: {
      'a wrong password of 1,024 bytes': set({ password: 'é'.repeat(512) }),
      'an unknown user': set({ username: 'nobody@e2e.example.com' }),
      'a disabled user': (_, { client, disabledUser }) => ({ body: passwordGrant(client, disabledUser) }),
      'a user of another account': (_, { boundClient, user }) => ({ body: passwordGrant(boundClient, user) }),
    },
    // RFC 6749 section 10.4
    refresh_token_rejected: {
      ...rows(['unknown', 'a-b.1.c.canary'], refresh),
      'of 512 bytes': refresh('x'.repeat(512)),
      'a different counter': refresh(token => token.replace(/\.\d+\./, '.7.')),
      truncated: refresh(token => token.slice(0, -1)),
    },
  },
  revoke: {
    ...tokenErrors,
    token_of_another_client: {
      'a refresh token': (_, { passwordOnly, refreshToken }) => ({ body: withToken(passwordOnly, refreshToken) }),
    },
  },
  introspect: tokenErrors,
};

const listOf = (cases: Cases) =>
  Object.entries(cases).flatMap(([name, requests]) =>
    Object.entries(requests).map(([title, makeRequest]) => ({ name: name as OAuthCase, title, makeRequest })),
  );

describe.each(['token', 'revoke', 'introspect'] as const)('/oauth/v1/%s rejects', endpoint => {
  let fixture: Fixture;
  let form: Form;
  beforeAll(async () => {
    fixture = await makeFixture();
    const { client, user } = fixture;
    form = endpoint === 'token' ? passwordGrant(client, user) : withToken(client, 'unknown');
  });

  const send = async ({ method = 'POST', query, headers = formType, body = '' }: Request) => {
    const text = typeof body === 'object' && !(body instanceof Uint8Array) ? encode(body) : body;
    // The body is bytes, because fetch would add a content type for a string.
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    const url = `${authUrl}/oauth/v1/${endpoint}${query === undefined ? '' : `?${query}`}`;
    const response = await fetch(url, { method, headers, ...(method !== 'GET' && { body: bytes }) });
    const responseText = await response.text();
    const { client, user } = fixture;
    for (const secret of [client.clientSecret, user.email, user.password]) expect(responseText).not.toContain(secret);
    return { status: response.status, headers: Object.fromEntries(response.headers), text: responseText };
  };

  it.each([...listOf(shared), ...listOf(cases[endpoint])])('$name: $title', async ({ name, makeRequest }) => {
    const [status, error, error_description] = oauthCases[name];
    const response = await send(makeRequest(form, fixture));
    expect([response.status, JSON.parse(response.text)]).toEqual([status, { error, error_description }]);
    expect(error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/); // RFC 6749 section 5.2
    expect(response.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    });
    expect(response.headers.allow).toBe(status === 405 ? 'POST' : undefined);
    const challenge = status === 401 ? 'Basic realm="oauth", error="invalid_client"' : undefined;
    expect(response.headers['www-authenticate']).toBe(challenge);
  });

  it('an invalid value without repeating it', async () => {
    const marker = `Marker${unique()}`;
    const fields = ['grant_type', 'client_id', 'client_secret', 'username', 'password', 'scope', 'token'];
    for (const name of fields)
      expect((await send({ body: { ...form, [name]: marker } })).text, name).not.toContain(marker);
  });
});

it('the tables contain every error case of the form endpoints', () => {
  const tested = Object.keys({ ...shared, ...cases.token, ...cases.revoke, ...cases.introspect });
  const others = ['client_rate_limit', 'dependency_unavailable', 'internal_error']; // unit tests cover these cases
  const ofPaths = ['method_not_get', 'not_found']; // requests.e2e.test.ts covers these cases
  expect([...tested, ...others, ...ofPaths].sort()).toEqual(Object.keys(oauthCases).sort());
});

function withToken({ clientId: client_id, clientSecret: client_secret }: Fixture['client'], token: string): Form {
  return { client_id, client_secret, token };
}

/** Creates the clients, users and tokens for the requests. */
async function makeFixture() {
  const [client, passwordOnly, refreshOnly, narrowClient, disabledClient, boundClient, user, disabledUser, member] =
    await Promise.all([
      createClient(),
      createClient('--grant', 'password'),
      createClient('--grant', 'refresh_token'),
      createClient('--grant', 'password', '--scope', 'webhooks:read'),
      createClient(),
      createClient('--grant', 'password', '--account', 'another-account'),
      createUser(),
      createUser(),
      createUser({ role: 'member' }),
    ]);
  await Promise.all([
    ops(['clients', 'disable', disabledClient.clientId]),
    ops(['users', 'disable', disabledUser.userId]),
  ]);
  const { refresh_token: refreshToken } = await logIn(client, user);
  const narrow = { ...passwordGrant(client, user), scope: 'webhooks:read' };
  const { refresh_token: narrowToken } = await getTokens(narrow);
  const clients = { client, passwordOnly, refreshOnly, narrowClient, disabledClient, boundClient };
  return { ...clients, user, disabledUser, member, refreshToken, narrowToken };
}
