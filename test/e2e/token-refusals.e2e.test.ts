import { beforeAll, describe, expect, it } from 'vitest';
import { type Client, type User, unique } from '../../tools/support/accounts.ts';
import { passwordGrant, refreshGrant, type Tokens } from '../../tools/support/service-client.ts';
import { createClient, createUser, logIn } from '../support/e2e-accounts.ts';
import { ops } from '../support/e2e-ops.ts';
import { authUrl } from '../support/e2e-target.ts';

interface World {
  readonly client: Client;
  readonly passwordOnly: Client;
  readonly refreshOnly: Client;
  readonly disabledClient: Client;
  readonly boundClient: Client;
  readonly user: User;
  readonly disabledUser: User;
  readonly tokens: Tokens;
}

let world: World;

beforeAll(async () => {
  const [client, passwordOnly, refreshOnly, disabledClient, boundClient, user, disabledUser] = await Promise.all([
    createClient(),
    createClient('--grant', 'password'),
    createClient('--grant', 'refresh_token'),
    createClient(),
    createClient('--grant', 'password', '--account', 'another-account'),
    createUser(),
    createUser(),
  ]);
  await Promise.all([
    ops(['clients', 'disable', disabledClient.clientId]),
    ops(['users', 'disable', disabledUser.userId]),
  ]);
  const tokens = await logIn(client, user);
  world = { client, passwordOnly, refreshOnly, disabledClient, boundClient, user, disabledUser, tokens };
});

interface Sent {
  readonly method?: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  /** Fields of a form, or the body as it is. */
  readonly body?: Record<string, string> | string | Uint8Array<ArrayBuffer>;
}

interface Case {
  readonly title: string;
  readonly source: string;
  readonly request: (world: World) => Sent;
  readonly status: number;
  readonly error: string;
}

const formType = { 'content-type': 'application/x-www-form-urlencoded' };

const send = ({ method = 'POST', query = '', headers = formType, body = '' }: Sent): Promise<Response> => {
  const isFields = typeof body === 'object' && !(body instanceof Uint8Array);
  const content = isFields ? new URLSearchParams(body).toString() : body;
  // Bytes, because fetch would add a content type of its own to a string.
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const hasBody = !['GET', 'HEAD'].includes(method);
  return fetch(`${authUrl}/oauth/v1/token${query}`, { method, headers, ...(hasBody && { body: bytes }) });
};

const valid = ({ client, user }: World) => passwordGrant(client, user);
const formOf = (world: World) => new URLSearchParams(valid(world)).toString();
const basic = (text: string) => ({ ...formType, authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const without = (form: Record<string, string>, ...names: string[]) =>
  Object.fromEntries(Object.entries(form).filter(([name]) => !names.includes(name)));
const ownBasic = ({ client }: World) => basic(`${client.clientId}:${client.clientSecret}`);

const refusal = (
  title: string,
  source: string,
  [status, error]: readonly [number, string],
  request: (world: World) => Sent,
): Case => ({ title, source, status, error, request });

const invalidRequest = [400, 'invalid_request'] as const;
const invalidClient = [401, 'invalid_client'] as const;
const invalidGrant = [400, 'invalid_grant'] as const;
const invalidScope = [400, 'invalid_scope'] as const;
const unauthorizedClient = [400, 'unauthorized_client'] as const;

const cases: readonly Case[] = [
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(method =>
    refusal(`method ${method}`, 'RFC 9110 15.5.6', [405, 'invalid_request'], world => ({ method, body: valid(world) })),
  ),

  ...[
    undefined,
    'application/json',
    'multipart/form-data; boundary=x',
    'text/plain',
    'application/x-www-form-urlencoded; charset=iso-8859-1',
  ].map(type =>
    refusal(`content type ${type ?? 'absent'}`, 'RFC 6749 3.2', invalidRequest, world => ({
      headers: { ...(type !== undefined && { 'content-type': type }) },
      body: formOf(world),
    })),
  ),
  refusal('body over 16 KiB', 'docs/en/errors.md', [413, 'invalid_request'], world => ({
    body: { ...valid(world), padding: 'x'.repeat(16 * 1024) },
  })),

  ...['%zz', '%4', '%', '%ff', '%c3%28', '%ed%a0%80', 'a%00b', '%C0%AF'].map(value =>
    refusal(`value ${value}`, 'RFC 6749 app. B', invalidRequest, world => ({ body: `${formOf(world)}&x=${value}` })),
  ),
  refusal('bytes that are not UTF-8', 'RFC 6749 app. B', invalidRequest, world => ({
    body: Uint8Array.from([...Buffer.from(`${formOf(world)}&x=`), 0xff]),
  })),

  ...['grant_type=password', 'username=someone', 'unknown=1&unknown=1', 'client_id=x', 'scope=&scope='].map(twice =>
    refusal(`twice: ${twice}`, 'RFC 6749 3.2', invalidRequest, world => ({ body: `${formOf(world)}&${twice}` })),
  ),
  ...['client_secret', 'password', 'refresh_token'].map(name =>
    refusal(`${name} in the query string`, 'RFC 6749 2.3.1', invalidRequest, world => ({
      query: `?${name}=x`,
      body: valid(world),
    })),
  ),

  refusal('grant_type missing', 'RFC 6749 5.2', invalidRequest, world => ({
    body: without(valid(world), 'grant_type'),
  })),
  refusal('grant_type empty', 'RFC 6749 3.2', invalidRequest, world => ({ body: { ...valid(world), grant_type: '' } })),

  ...['%20', '+', '%09%C2%A0', '%EF%BB%BF'].map(blank =>
    refusal(`a username of blanks: ${blank}`, 'RFC 6749 4.3.2', invalidRequest, world => ({
      body: `${new URLSearchParams(without(valid(world), 'username'))}&username=${blank}`,
    })),
  ),
  refusal('a username of blanks from a stranger', 'RFC 6749 5.2', invalidClient, world => ({
    body: { ...valid(world), client_id: 'nobody', username: ' ' },
  })),

  refusal('no client credentials', 'RFC 6749 5.2', invalidClient, world => ({
    body: without(valid(world), 'client_id', 'client_secret'),
  })),
  refusal('client id without secret', 'RFC 6749 5.2', invalidClient, world => ({
    body: without(valid(world), 'client_secret'),
  })),
  refusal('Basic and a client_secret in the body', 'RFC 6749 2.3', invalidRequest, world => ({
    headers: ownBasic(world),
    body: valid(world),
  })),
  refusal('Basic and another client_id in the body', 'RFC 6749 2.3', invalidRequest, world => ({
    headers: ownBasic(world),
    body: { ...without(valid(world), 'client_secret'), client_id: 'another' },
  })),
  ...[
    ['no base64', 'Basic !!!'],
    ['no colon', `Basic ${Buffer.from('nocolon').toString('base64')}`],
    ['malformed percent-encoding', `Basic ${Buffer.from('id:%zz').toString('base64')}`],
    ['invalid UTF-8', `Basic ${Buffer.from([0xff, 0x3a, 0xff]).toString('base64')}`],
    ['nothing after the scheme', 'Basic'],
  ].map(([title, authorization = '']) =>
    refusal(`Basic with ${title}`, 'RFC 7617 2', invalidRequest, world => ({
      headers: { ...formType, authorization },
      body: without(valid(world), 'client_id', 'client_secret'),
    })),
  ),
  refusal('another scheme beside good body credentials', 'RFC 6749 5.2', invalidClient, world => ({
    headers: { ...formType, authorization: 'Bearer abc' },
    body: valid(world),
  })),
  refusal('client unknown', 'RFC 6749 5.2', invalidClient, world => ({
    body: { ...valid(world), client_id: 'nobody' },
  })),
  refusal('client secret wrong', 'RFC 6749 5.2', invalidClient, world => ({
    body: { ...valid(world), client_secret: 'wrong' },
  })),
  refusal('client disabled', 'RFC 6749 5.2', invalidClient, ({ disabledClient, user }) => ({
    body: passwordGrant(disabledClient, user),
  })),

  refusal('grant_type not known', 'RFC 6749 5.2', [400, 'unsupported_grant_type'], world => ({
    body: { ...valid(world), grant_type: 'authorization_code' },
  })),
  refusal('grant_type in another case', 'RFC 6749 5.2', [400, 'unsupported_grant_type'], world => ({
    body: { ...valid(world), grant_type: 'Password' },
  })),
  refusal('the client is judged before the grant type', 'docs/en/errors.md', invalidClient, world => ({
    body: { ...valid(world), grant_type: 'authorization_code', client_secret: 'wrong' },
  })),
  refusal('password grant not enabled', 'RFC 6749 5.2', unauthorizedClient, ({ refreshOnly, user }) => ({
    body: passwordGrant(refreshOnly, user),
  })),
  refusal('refresh grant not enabled', 'RFC 6749 5.2', unauthorizedClient, ({ passwordOnly }) => ({
    body: without(refreshGrant(passwordOnly, 'x'), 'refresh_token'),
  })),

  ...['username', 'password'].flatMap(name => [
    refusal(`${name} missing`, 'RFC 6749 4.3.2', invalidRequest, world => ({ body: without(valid(world), name) })),
    refusal(`${name} empty`, 'RFC 6749 3.2', invalidRequest, world => ({ body: { ...valid(world), [name]: '' } })),
  ]),
  refusal('refresh_token missing', 'RFC 6749 6', invalidRequest, ({ client }) => ({
    body: without(refreshGrant(client, 'x'), 'refresh_token'),
  })),
  refusal('refresh_token empty', 'RFC 6749 3.2', invalidRequest, ({ client }) => ({ body: refreshGrant(client, '') })),
  refusal('username over 254 bytes', 'docs/en/errors.md', invalidRequest, world => ({
    body: { ...valid(world), username: `${'é'.repeat(122)}@example.com` },
  })),
  refusal('password over 1,024 bytes', 'docs/en/errors.md', invalidRequest, world => ({
    body: { ...valid(world), password: 'é'.repeat(513) },
  })),
  refusal('refresh token over 512 bytes', 'docs/en/errors.md', invalidRequest, ({ client }) => ({
    body: refreshGrant(client, 'x'.repeat(513)),
  })),

  refusal('scope unknown', 'RFC 6749 3.3', invalidScope, world => ({ body: { ...valid(world), scope: 'everything' } })),
  refusal('scope unknown beside a known one', 'RFC 6749 3.3', invalidScope, world => ({
    body: { ...valid(world), scope: 'webhooks:read everything' },
  })),

  refusal('password wrong', 'RFC 6749 5.2', invalidGrant, world => ({ body: { ...valid(world), password: 'wrong' } })),
  refusal('user unknown', 'RFC 6749 5.2', invalidGrant, world => ({
    body: { ...valid(world), username: 'nobody@e2e.example.com' },
  })),
  refusal('user disabled', 'RFC 6749 5.2', invalidGrant, ({ client, disabledUser }) => ({
    body: passwordGrant(client, disabledUser),
  })),
  refusal('user of another account', 'RFC 6749 5.2', invalidGrant, ({ boundClient, user }) => ({
    body: passwordGrant(boundClient, user),
  })),

  refusal('refresh token unknown', 'RFC 6749 5.2', invalidGrant, ({ client }) => ({
    body: refreshGrant(client, 'unknown'),
  })),
  refusal('refresh token with another counter', 'RFC 6749 10.4', invalidGrant, ({ client, tokens }) => ({
    body: refreshGrant(client, tokens.refresh_token.replace(/\.\d+\./, '.7.')),
  })),
  refusal('refresh token cut short', 'RFC 6749 10.4', invalidGrant, ({ client, tokens }) => ({
    body: refreshGrant(client, tokens.refresh_token.slice(0, -1)),
  })),
];

describe('what the token endpoint refuses', () => {
  it.each(cases)('$title: $status $error ($source)', async ({ request, status, error }) => {
    const response = await send(request(world));
    const text = await response.text();

    expect({ status: response.status, ...JSON.parse(text) }).toMatchObject({ status, error });
    expect(Object.keys(JSON.parse(text)).sort()).toEqual(['error', 'error_description']);
    // RFC 6749 section 5.2: printable ASCII without quotes and backslashes.
    expect(JSON.parse(text).error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('pragma')).toBe('no-cache');
    expect(response.headers.get('allow')).toBe(status === 405 ? 'POST' : null);
    expect(response.headers.get('www-authenticate')).toBe(
      status === 401 ? 'Basic realm="oauth", error="invalid_client"' : null,
    );
  });

  const answersOf = async (titles: readonly string[]) => {
    const chosen = titles.map(title => cases.find(candidate => candidate.title === title));
    return Promise.all(chosen.map(async one => (await send(one?.request(world) ?? {})).text()));
  };

  it.each([
    ['client', ['client unknown', 'client secret wrong', 'client disabled']],
    ['user', ['password wrong', 'user unknown', 'user disabled', 'user of another account']],
  ])('does not tell why a %s is refused', async (_who, titles) => {
    const answers = await answersOf(titles);
    expect(new Set(answers).size).toBe(1);
  });

  it('never repeats what was sent', async () => {
    const marker = `Marker${unique()}`;
    const fields = ['grant_type', 'client_id', 'client_secret', 'username', 'password', 'scope'];
    const bodies = fields.map(name => ({ ...valid(world), [name]: marker }));
    const answers = await Promise.all(bodies.map(async body => (await send({ body })).text()));
    expect(answers.filter(answer => answer.includes(marker))).toEqual([]);
  });
});
