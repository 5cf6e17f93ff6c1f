import { beforeAll, describe, expect, it } from 'vitest';
import { type OAuthCase, oauthCases } from '../../lambdas/auth/routes.ts';
import { unique } from '../../tools/support/accounts.ts';
import { passwordGrant, refreshGrant } from '../../tools/support/service-client.ts';
import { ops } from '../support/e2e-ops.ts';
import { createClient, createUser, logIn } from '../support/e2e-service.ts';
import { authUrl } from '../support/e2e-target.ts';

// The endpoints of {auth_url} that read a form refuse each of these requests (RFC 6749, 7009, 7617, 7662; docs/en/errors.md).

describe.each(['token', 'revoke', 'introspect'] as const)('what /oauth/v1/%s refuses', endpoint => {
  let world: World;
  beforeAll(async () => {
    world = await makeWorld();
  });
  const cases = [...formRefusals(valid[endpoint]), ...ownRefusals[endpoint]];

  const send = async ({ method = 'POST', query, headers = formType, body = '' }: Request) => {
    const text = typeof body === 'object' && !(body instanceof Uint8Array) ? encode(body) : body;
    // Bytes, because fetch would add a content type of its own to a string.
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    const url = `${authUrl}/oauth/v1/${endpoint}${query === undefined ? '' : `?${query}`}`;
    const answer = await fetch(url, { method, headers, ...(method !== 'GET' && { body: bytes }) });
    const answered = await answer.text();
    const { client, user } = world;
    for (const given of [client.clientSecret, user.email, user.password]) expect(answered).not.toContain(given);
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text: answered };
  };

  it.each(cases)('$title: $told ($source)', async ({ request, told }) => {
    const [status, error, error_description] = oauthCases[told];
    const answer = await send(request(world));
    expect([answer.status, JSON.parse(answer.text)]).toEqual([status, { error, error_description }]);
    expect(error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/); // RFC 6749 section 5.2
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    });
    expect(answer.headers.allow).toBe(status === 405 ? 'POST' : undefined);
    const challenge = status === 401 ? 'Basic realm="oauth", error="invalid_client"' : undefined;
    expect(answer.headers['www-authenticate']).toBe(challenge);
  });

  it('never repeats what was sent', async () => {
    const marker = `Marker${unique()}`;
    const fields = ['grant_type', 'client_id', 'client_secret', 'username', 'password', 'scope', 'token'];
    for (const name of fields) {
      const { text } = await send({ body: { ...valid[endpoint](world), [name]: marker } });
      expect(text, name).not.toContain(marker);
    }
  });
});

type World = Awaited<ReturnType<typeof makeWorld>>;

/** Creates the clients, users and tokens that requests are made of. */
async function makeWorld() {
  const [client, passwordOnly, refreshOnly, narrowClient, disabledClient, boundClient, user, disabledUser] =
    await Promise.all([
      createClient(),
      createClient('--grant', 'password'),
      createClient('--grant', 'refresh_token'),
      createClient('--grant', 'password', '--scope', 'webhooks:read'),
      createClient(),
      createClient('--grant', 'password', '--account', 'another-account'),
      createUser(),
      createUser(),
    ]);
  await Promise.all([
    ops(['clients', 'disable', disabledClient.clientId]),
    ops(['users', 'disable', disabledUser.userId]),
  ]);
  const { refresh_token: refreshToken } = await logIn(client, user);
  const clients = { client, passwordOnly, refreshOnly, narrowClient, disabledClient, boundClient };
  return { ...clients, user, disabledUser, refreshToken };
}

type Endpoint = 'token' | 'revoke' | 'introspect';

/** A request to an endpoint that reads a form; by default a POST of one. */
interface Request {
  readonly method?: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  /** Fields of a form, or the body as it is. */
  readonly body?: Record<string, string> | string | Uint8Array<ArrayBuffer>;
}

interface Case {
  readonly title: string;
  readonly source: string;
  readonly told: OAuthCase;
  readonly request: (world: World) => Request;
}

const formType = { 'content-type': 'application/x-www-form-urlencoded' };
const encode = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const without = (form: Record<string, string>, ...names: string[]) =>
  Object.fromEntries(Object.entries(form).filter(([name]) => !names.includes(name)));
const authorized = (authorization: string) => ({ ...formType, authorization });
const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
const ownBasic = ({ client }: World) => basic(client.clientId, client.clientSecret);

/** Forms that are accepted, from which refused ones are made. */
const valid = {
  token: ({ client, user }: World): Record<string, string> => passwordGrant(client, user),
  revoke: withToken,
  introspect: withToken,
};

function withToken({ client }: World, token = 'unknown'): Record<string, string> {
  return { client_id: client.clientId, client_secret: client.clientSecret, token };
}

const refusal = (title: string, source: string, told: OAuthCase, request: Case['request']): Case => ({
  ...{ title, source, told, request },
});

/** Refusals that all three endpoints share. `form` returns one that is accepted. */
function formRefusals(form: (world: World) => Record<string, string>): readonly Case[] {
  const formOf = (world: World) => encode(form(world));

  /** A form with some fields changed. */
  const changed = (title: string, told: OAuthCase, changes: Record<string, string>) =>
    refusal(title, 'RFC 6749 5.2', told, world => ({ body: { ...form(world), ...changes } }));

  /** A form with something added. */
  const appended = (title: string, source: string, told: OAuthCase, more: string) =>
    refusal(title, source, told, world => ({ body: `${formOf(world)}&${more}` }));

  /** A form whose client is in the header. */
  const byHeader = (
    title: string,
    told: OAuthCase,
    authorization: (world: World) => string,
    more: (world: World) => Record<string, string> = () => ({}),
  ) =>
    refusal(title, 'RFC 6749 2.3, RFC 7617 2', told, world => ({
      headers: authorized(authorization(world)),
      body: { ...without(form(world), 'client_id', 'client_secret'), ...more(world) },
    }));

  return [
    ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(method =>
      refusal(`method ${method}`, 'RFC 9110 15.5.6', 'method_not_post', world => ({ method, body: form(world) })),
    ),

    ...[
      undefined,
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
    ].map(type =>
      refusal(`content type ${type ?? 'absent'}`, 'RFC 6749 3.2', 'content_type', world => ({
        headers: { ...(type !== undefined && { 'content-type': type }) },
        body: formOf(world),
      })),
    ),
    refusal('body over 16 KiB', 'docs/en/errors.md', 'body_too_large', world => ({
      body: `${formOf(world)}&padding=`.padEnd(16_385, 'x'),
    })),

    ...['%zz', '%4', '%', '%+1', '%ff', '%c3%28', '%ed%a0%80', 'a%00b', '%C0%AF'].map(value =>
      appended(`value ${value}`, 'RFC 6749 app. B', 'malformed_form', `x=${value}`),
    ),
    ...['%zz', 'x%00'].map(name => appended(`name ${name}`, 'RFC 6749 app. B', 'malformed_form', `${name}=1`)),
    refusal('bytes that are not UTF-8', 'RFC 6749 app. B', 'malformed_form', world => ({
      body: Uint8Array.from([...Buffer.from(`${formOf(world)}&x=`), 0xff, 0xfe]),
    })),
    ...['x=%E7%E3o', 'x=\xe7\xe3o'].map(latin1 =>
      refusal(`ISO-8859-1, as the content type says: ${latin1}`, 'WHATWG URL 5.1', 'malformed_form', world => ({
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=ISO-8859-1' },
        body: Uint8Array.from(Buffer.from(`${formOf(world)}&${latin1}`, 'latin1')),
      })),
    ),

    ...[
      'client_id=x',
      'client_secret=x',
      'scope=a&scope=a',
      'scope=&scope=',
      'unknown=1&unknown=1',
      'x=1&%78=2',
      'x=&x',
    ].map(twice => appended(`twice: ${twice}`, 'RFC 6749 3.2', 'duplicate_parameter', twice)),
    ...[
      'client_secret=x',
      'password=x',
      'refresh_token=x',
      'a=1&password',
      'client%5Fsecret=x',
      'refresh_token=%zz',
    ].map(query =>
      refusal(`a secret in the query string: ${query}`, 'RFC 6749 2.3.1', 'secret_in_query', world => ({
        query,
        body: form(world),
      })),
    ),

    ...[['client_id', 'client_secret'], ['client_secret'], ['client_id']].map(names =>
      refusal(`without ${names.join(' and ')}`, 'RFC 6749 5.2', 'client_missing', world => ({
        body: without(form(world), ...names),
      })),
    ),
    changed('client secret empty', 'client_missing', { client_secret: '' }),
    byHeader('Basic and a client_secret in the body', 'client_two_ways', ownBasic, form),
    byHeader(
      'Basic without a secret, and one in the body',
      'client_two_ways',
      world => basic(world.client.clientId, ''),
      form,
    ),
    byHeader('Basic without an id, and a secret in the body', 'client_two_ways', () => basic('', 'x'), form),
    byHeader('Basic and another client_id in the body', 'client_ids_differ', ownBasic, () => ({
      client_id: 'another',
    })),
    ...[
      ['no base64', 'Basic !!!'],
      ['percent signs', 'Basic %%%'],
      ['no padding', 'Basic YTpiYw'],
      ['base64url', 'Basic YTo_Pz8-'],
      ['no colon', `Basic ${Buffer.from('nocolon').toString('base64')}`],
      ['malformed percent-encoding', basic('id', '%zz')],
      ['percent-encoded bytes that are not UTF-8', basic('id', '%ff')],
      ['invalid UTF-8', `Basic ${Buffer.from([0xff, 0x3a, 0xff]).toString('base64')}`],
      ['nothing after the scheme', 'Basic'],
    ].map(([title, authorization = '']) => byHeader(`Basic with ${title}`, 'basic_malformed', () => authorization)),
    byHeader(
      'Basic twice, as gateways join headers',
      'basic_malformed',
      world => `${ownBasic(world)},${ownBasic(world)}`,
    ),
    byHeader('Basic with an empty secret', 'client_missing', ({ client }) => basic(client.clientId, '')),
    byHeader('Basic with an empty id', 'client_missing', ({ client }) => basic('', client.clientSecret)),
    byHeader('Basic with neither', 'client_missing', () => basic('', '')),
    byHeader('another scheme alone', 'client_missing', () => 'Bearer stale'),
    byHeader(
      'another scheme, and a client_id without a secret',
      'client_missing',
      () => 'Bearer stale',
      ({ client }) => ({ client_id: client.clientId }),
    ),

    // One answer, whatever the reason is.
    byHeader('Basic with a wrong secret', 'client_refused', ({ client }) => basic(client.clientId, 'wrong')),
    changed('client unknown', 'client_refused', { client_id: 'nobody' }),
    changed('a client id that no client can have', 'client_refused', { client_id: 'x'.repeat(5_000) }),
    changed('client secret wrong', 'client_refused', { client_secret: 'wrong' }),
    refusal('client disabled', 'RFC 6749 5.2', 'client_refused', world => ({
      body: form({ ...world, client: world.disabledClient }),
    })),
  ];
}

/** A refusal of a login with some fields changed. */
const login = (title: string, source: string, told: OAuthCase, changes: Record<string, string>) =>
  refusal(title, source, told, world => ({ body: { ...valid.token(world), ...changes } }));

/** A refusal of a token that somebody wants to be refreshed. */
const refresh = (title: string, source: string, told: OAuthCase, tokenOf: (world: World) => string) =>
  refusal(title, source, told, world => ({ body: refreshGrant(world.client, tokenOf(world)) }));

const noToken = [
  refusal('no token', 'RFC 7009 2.1, RFC 7662 2.1', 'token_missing', world => ({
    body: without(withToken(world), 'token'),
  })),
  refusal('token empty', 'RFC 6749 3.2', 'token_missing', world => ({ body: withToken(world, '') })),
];

/** Refusals of one endpoint. */
const ownRefusals: Readonly<Record<Endpoint, readonly Case[]>> = {
  token: [
    refusal('no body', 'RFC 6749 5.2', 'grant_type_missing', () => ({})),
    refusal('grant_type missing', 'RFC 6749 5.2', 'grant_type_missing', world => ({
      body: without(valid.token(world), 'grant_type'),
    })),
    login('grant_type empty', 'RFC 6749 3.2', 'grant_type_missing', { grant_type: '' }),
    ...['grant_type=password', 'username=someone'].map(twice =>
      refusal(`twice: ${twice}`, 'RFC 6749 3.2', 'duplicate_parameter', world => ({
        body: `${encode(valid.token(world))}&${twice}`,
      })),
    ),

    ...['%20', '+', '%C2%A0', '%09%C2%A0', '%EF%BB%BF%09'].map(blank =>
      refusal(`a username of blanks: ${blank}`, 'RFC 6749 4.3.2', 'username_missing', world => ({
        body: `${encode(without(valid.token(world), 'username'))}&username=${blank}`,
      })),
    ),
    login('a username of blanks from a stranger', 'RFC 6749 5.2', 'client_refused', {
      client_id: 'nobody',
      username: ' ',
    }),

    ...['authorization_code', 'client_credentials', 'Password', 'constructor'].map(grant_type =>
      login(`grant_type ${grant_type}`, 'RFC 6749 5.2', 'grant_unsupported', { grant_type }),
    ),
    login('the client is judged before the grant type', 'docs/en/errors.md', 'client_refused', {
      grant_type: 'authorization_code',
      client_secret: 'wrong',
    }),
    refusal('password grant not enabled', 'RFC 6749 5.2', 'grant_not_allowed', ({ refreshOnly, user }) => ({
      body: passwordGrant(refreshOnly, user),
    })),
    refusal('refresh grant not enabled', 'RFC 6749 5.2', 'grant_not_allowed', ({ passwordOnly }) => ({
      body: without(refreshGrant(passwordOnly, 'x'), 'refresh_token'),
    })),

    ...(['username', 'password'] as const).flatMap(name => [
      refusal(`${name} missing`, 'RFC 6749 4.3.2', `${name}_missing`, world => ({
        body: without(valid.token(world), name),
      })),
      login(`${name} empty`, 'RFC 6749 3.2', `${name}_missing`, { [name]: '' }),
    ]),
    refusal('refresh_token missing', 'RFC 6749 6', 'refresh_token_missing', ({ client }) => ({
      body: without(refreshGrant(client, 'x'), 'refresh_token'),
    })),
    refresh('refresh_token empty', 'RFC 6749 3.2', 'refresh_token_missing', () => ''),
    login('username over 254 bytes', 'docs/en/errors.md', 'username_too_long', {
      username: `${'é'.repeat(121)}x@example.com`,
    }),
    login('password over 1,024 bytes', 'docs/en/errors.md', 'password_too_long', { password: `${'é'.repeat(512)}x` }),
    refresh('refresh token of 512 bytes', 'docs/en/errors.md', 'refresh_token_refused', () => 'x'.repeat(512)),
    refresh('refresh token over 512 bytes', 'docs/en/errors.md', 'refresh_token_too_long', () => 'x'.repeat(513)),

    ...['everything', 'webhooks:read everything', 'webhooks:read,webhooks:manage', 'Webhooks:read'].map(scope =>
      login(`scope ${scope}`, 'RFC 6749 3.3', 'scope_invalid', { scope }),
    ),
    refusal('a scope that the client may not have', 'RFC 6749 3.3', 'scope_of_another_client', world => ({
      body: { ...passwordGrant(world.narrowClient, world.user), scope: 'webhooks:manage' },
    })),

    // One answer, whatever the reason is.
    login('password wrong, of 1,024 bytes', 'RFC 6749 5.2', 'credentials_refused', { password: 'é'.repeat(512) }),
    login('user unknown', 'RFC 6749 5.2', 'credentials_refused', { username: 'nobody@e2e.example.com' }),
    refusal('user disabled', 'RFC 6749 5.2', 'credentials_refused', ({ client, disabledUser }) => ({
      body: passwordGrant(client, disabledUser),
    })),
    refusal('user of another account', 'RFC 6749 5.2', 'credentials_refused', ({ boundClient, user }) => ({
      body: passwordGrant(boundClient, user),
    })),

    ...['unknown', 'a-b.1.c.canary'].map(token =>
      refresh(`refresh token ${token}`, 'RFC 6749 5.2', 'refresh_token_refused', () => token),
    ),
    refresh('refresh token with another counter', 'RFC 6749 10.4', 'refresh_token_refused', ({ refreshToken }) =>
      refreshToken.replace(/\.\d+\./, '.7.'),
    ),
    refresh('refresh token cut short', 'RFC 6749 10.4', 'refresh_token_refused', ({ refreshToken }) =>
      refreshToken.slice(0, -1),
    ),
  ],
  revoke: [
    ...noToken,
    refusal('the token of another client', 'RFC 7009 2.1', 'token_of_another_client', world => ({
      body: withToken({ ...world, client: world.passwordOnly }, world.refreshToken),
    })),
  ],
  introspect: noToken,
};
