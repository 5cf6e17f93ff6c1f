import { beforeAll, describe, expect, it } from 'vitest';
import { type Client, type User, unique } from '../../tools/support/accounts.ts';
import { passwordGrant, refreshGrant } from '../../tools/support/service-client.ts';

/** The clients, users and tokens that requests are made of. */
export interface World {
  readonly client: Client;
  readonly passwordOnly: Client;
  readonly refreshOnly: Client;
  readonly disabledClient: Client;
  /** Bound to an account that is not the user's. */
  readonly boundClient: Client;
  readonly user: Credentials;
  readonly disabledUser: Credentials;
  readonly refreshToken: string;
}

/** A request to the token endpoint; by default a POST of a form. */
export interface Sent {
  readonly method?: string;
  readonly query?: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

/** An answer, whose headers have names in lower case. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Describes what the token endpoint refuses, wherever it runs: in this process, or behind HTTP. */
export function describeTokenRefusals(target: {
  readonly makeWorld: () => Promise<World>;
  readonly send: (request: Sent) => Promise<Refusal>;
}): void {
  let world: World;
  beforeAll(async () => {
    world = await target.makeWorld();
  });

  const send = ({ headers = formType, body = '', ...rest }: Request) => {
    const isFields = typeof body === 'object' && !(body instanceof Uint8Array);
    return target.send({ ...rest, headers, body: isFields ? encode(body) : body });
  };

  describe('what the token endpoint refuses', () => {
    it.each(cases)('$title: $status $error ($source)', async ({ request, status, error }) => {
      const answer = await send(request(world));
      // RFC 6749 section 5.2: printable ASCII without quotes and backslashes.
      const description = expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
      expect([answer.status, JSON.parse(answer.text)]).toEqual([status, { error, error_description: description }]);
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json',
        'cache-control': 'no-store',
        pragma: 'no-cache',
      });
      expect(answer.headers.allow).toBe(status === 405 ? 'POST' : undefined);
      const challenge = status === 401 ? 'Basic realm="oauth", error="invalid_client"' : undefined;
      expect(answer.headers['www-authenticate']).toBe(challenge);
      const { client, user } = world;
      for (const given of [client.clientSecret, user.email, user.password]) expect(answer.text).not.toContain(given);
    });

    it.each([
      ['client', ['client unknown', 'client secret wrong', 'client disabled']],
      ['user', ['password wrong', 'user unknown', 'user disabled', 'user of another account']],
    ])('does not tell why a %s is refused', async (_who, titles) => {
      const chosen = cases.filter(({ title }) => titles.includes(title));
      const answers = await Promise.all(chosen.map(async ({ request }) => (await send(request(world))).text));
      expect(answers).toHaveLength(titles.length);
      expect(new Set(answers).size).toBe(1);
    });

    it('never repeats what was sent', async () => {
      const marker = `Marker${unique()}`;
      const fields = ['grant_type', 'client_id', 'client_secret', 'username', 'password', 'scope'];
      const bodies = fields.map(name => ({ ...valid(world), [name]: marker }));
      const answers = await Promise.all(bodies.map(async body => (await send({ body })).text));
      expect(answers.filter(answer => answer.includes(marker))).toEqual([]);
    });
  });
}

type Credentials = Pick<User, 'email' | 'password'>;

interface Request extends Partial<Omit<Sent, 'body'>> {
  /** Fields of a form, or the body as it is. */
  readonly body?: Record<string, string> | Sent['body'];
}

interface Case {
  readonly title: string;
  readonly source: string;
  readonly request: (world: World) => Request;
  readonly status: number;
  readonly error: string;
}

const formType = { 'content-type': 'application/x-www-form-urlencoded' };
const encode = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const valid = ({ client, user }: World) => passwordGrant(client, user);
const formOf = (world: World) => encode(valid(world));
const without = (form: Record<string, string>, ...names: string[]) =>
  Object.fromEntries(Object.entries(form).filter(([name]) => !names.includes(name)));
const authorized = (authorization: string) => ({ ...formType, authorization });
const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
const ownBasic = ({ client }: World) => basic(client.clientId, client.clientSecret);

const refusal = (
  title: string,
  source: string,
  [status, error]: readonly [number, string],
  request: Case['request'],
): Case => ({ title, source, status, error, request });

const invalidRequest = [400, 'invalid_request'] as const;
const invalidClient = [401, 'invalid_client'] as const;
const invalidGrant = [400, 'invalid_grant'] as const;
const invalidScope = [400, 'invalid_scope'] as const;
const unauthorizedClient = [400, 'unauthorized_client'] as const;
const unsupportedGrant = [400, 'unsupported_grant_type'] as const;

/** A refusal of a login with some fields changed. */
const changed = (title: string, source: string, told: readonly [number, string], changes: Record<string, string>) =>
  refusal(title, source, told, world => ({ body: { ...valid(world), ...changes } }));

/** A refusal of a login with something added to its form. */
const appended = (title: string, source: string, more: string) =>
  refusal(title, source, invalidRequest, world => ({ body: `${formOf(world)}&${more}` }));

/** A refusal of a login whose client is in the header. */
const byHeader = (
  title: string,
  told: readonly [number, string],
  authorization: (world: World) => string,
  more: (world: World) => Record<string, string> = () => ({}),
) =>
  refusal(title, 'RFC 6749 2.3, RFC 7617 2', told, world => ({
    headers: authorized(authorization(world)),
    body: { ...without(valid(world), 'client_id', 'client_secret'), ...more(world) },
  }));

const cases: readonly Case[] = [
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(method =>
    refusal(`method ${method}`, 'RFC 9110 15.5.6', [405, 'invalid_request'], world => ({ method, body: valid(world) })),
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
  ].map(type =>
    refusal(`content type ${type ?? 'absent'}`, 'RFC 6749 3.2', invalidRequest, world => ({
      headers: { ...(type !== undefined && { 'content-type': type }) },
      body: formOf(world),
    })),
  ),
  changed('body over 16 KiB', 'docs/en/errors.md', [413, 'invalid_request'], { padding: 'x'.repeat(16 * 1024) }),

  ...['%zz', '%4', '%', '%+1', '%ff', '%c3%28', '%ed%a0%80', 'a%00b', '%C0%AF'].map(value =>
    appended(`value ${value}`, 'RFC 6749 app. B', `x=${value}`),
  ),
  ...['%zz', 'x%00'].map(name => appended(`name ${name}`, 'RFC 6749 app. B', `${name}=1`)),
  refusal('bytes that are not UTF-8', 'RFC 6749 app. B', invalidRequest, world => ({
    body: Uint8Array.from([...Buffer.from(`${formOf(world)}&x=`), 0xff, 0xfe]),
  })),

  ...[
    'grant_type=password',
    'username=someone',
    'client_id=x',
    'client_secret=x',
    'scope=a&scope=a',
    'scope=&scope=',
    'unknown=1&unknown=1',
    'x=1&%78=2',
    'x=&x',
  ].map(twice => appended(`twice: ${twice}`, 'RFC 6749 3.2', twice)),
  ...['client_secret=x', 'password=x', 'refresh_token=x', 'a=1&password', 'client%5Fsecret=x', 'refresh_token=%zz'].map(
    query =>
      refusal(`a secret in the query string: ${query}`, 'RFC 6749 2.3.1', invalidRequest, world => ({
        query,
        body: valid(world),
      })),
  ),

  refusal('no body', 'RFC 6749 5.2', invalidRequest, () => ({})),
  refusal('grant_type missing', 'RFC 6749 5.2', invalidRequest, world => ({
    body: without(valid(world), 'grant_type'),
  })),
  changed('grant_type empty', 'RFC 6749 3.2', invalidRequest, { grant_type: '' }),

  ...['%20', '+', '%C2%A0', '%09%C2%A0', '%EF%BB%BF%09'].map(blank =>
    refusal(`a username of blanks: ${blank}`, 'RFC 6749 4.3.2', invalidRequest, world => ({
      body: `${encode(without(valid(world), 'username'))}&username=${blank}`,
    })),
  ),
  changed('a username of blanks from a stranger', 'RFC 6749 5.2', invalidClient, {
    client_id: 'nobody',
    username: ' ',
  }),

  ...[['client_id', 'client_secret'], ['client_secret'], ['client_id']].map(names =>
    refusal(`without ${names.join(' and ')}`, 'RFC 6749 5.2', invalidClient, world => ({
      body: without(valid(world), ...names),
    })),
  ),
  changed('client secret empty', 'RFC 6749 5.2', invalidClient, { client_secret: '' }),
  byHeader('Basic and a client_secret in the body', invalidRequest, ownBasic, valid),
  byHeader('Basic and another client_id in the body', invalidRequest, ownBasic, () => ({ client_id: 'another' })),
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
  ].map(([title, authorization = '']) => byHeader(`Basic with ${title}`, invalidRequest, () => authorization)),
  byHeader('Basic twice, as gateways join headers', invalidRequest, world => `${ownBasic(world)},${ownBasic(world)}`),
  byHeader('Basic with a wrong secret', invalidClient, ({ client }) => basic(client.clientId, 'wrong')),
  byHeader('Basic with an empty secret', invalidClient, ({ client }) => basic(client.clientId, '')),
  byHeader('Basic with an empty id', invalidClient, ({ client }) => basic('', client.clientSecret)),
  byHeader('Basic with neither', invalidClient, () => basic('', '')),
  byHeader('another scheme beside good body credentials', invalidClient, () => 'Bearer abc', valid),
  changed('client unknown', 'RFC 6749 5.2', invalidClient, { client_id: 'nobody' }),
  changed('a client id that no client can have', 'RFC 6749 5.2', invalidClient, { client_id: 'x'.repeat(5_000) }),
  changed('client secret wrong', 'RFC 6749 5.2', invalidClient, { client_secret: 'wrong' }),
  refusal('client disabled', 'RFC 6749 5.2', invalidClient, ({ disabledClient, user }) => ({
    body: passwordGrant(disabledClient, user),
  })),

  ...['authorization_code', 'client_credentials', 'Password', 'constructor'].map(grant_type =>
    changed(`grant_type ${grant_type}`, 'RFC 6749 5.2', unsupportedGrant, { grant_type }),
  ),
  changed('the client is judged before the grant type', 'docs/en/errors.md', invalidClient, {
    grant_type: 'authorization_code',
    client_secret: 'wrong',
  }),
  refusal('password grant not enabled', 'RFC 6749 5.2', unauthorizedClient, ({ refreshOnly, user }) => ({
    body: passwordGrant(refreshOnly, user),
  })),
  refusal('refresh grant not enabled', 'RFC 6749 5.2', unauthorizedClient, ({ passwordOnly }) => ({
    body: without(refreshGrant(passwordOnly, 'x'), 'refresh_token'),
  })),

  ...['username', 'password'].flatMap(name => [
    refusal(`${name} missing`, 'RFC 6749 4.3.2', invalidRequest, world => ({ body: without(valid(world), name) })),
    changed(`${name} empty`, 'RFC 6749 3.2', invalidRequest, { [name]: '' }),
  ]),
  refusal('refresh_token missing', 'RFC 6749 6', invalidRequest, ({ client }) => ({
    body: without(refreshGrant(client, 'x'), 'refresh_token'),
  })),
  refusal('refresh_token empty', 'RFC 6749 3.2', invalidRequest, ({ client }) => ({ body: refreshGrant(client, '') })),
  changed('username over 254 bytes', 'docs/en/errors.md', invalidRequest, {
    username: `${'é'.repeat(122)}@example.com`,
  }),
  changed('password over 1,024 bytes', 'docs/en/errors.md', invalidRequest, { password: 'é'.repeat(513) }),
  refusal('refresh token over 512 bytes', 'docs/en/errors.md', invalidRequest, ({ client }) => ({
    body: refreshGrant(client, 'x'.repeat(513)),
  })),

  ...['everything', 'webhooks:read everything', 'webhooks:read  webhooks:manage'].map(scope =>
    changed(`scope ${scope}`, 'RFC 6749 3.3', invalidScope, { scope }),
  ),

  changed('password wrong', 'RFC 6749 5.2', invalidGrant, { password: 'wrong' }),
  changed('user unknown', 'RFC 6749 5.2', invalidGrant, { username: 'nobody@e2e.example.com' }),
  refusal('user disabled', 'RFC 6749 5.2', invalidGrant, ({ client, disabledUser }) => ({
    body: passwordGrant(client, disabledUser),
  })),
  refusal('user of another account', 'RFC 6749 5.2', invalidGrant, ({ boundClient, user }) => ({
    body: passwordGrant(boundClient, user),
  })),

  ...['unknown', 'a-b.1.c.canary'].map(token =>
    refusal(`refresh token ${token}`, 'RFC 6749 5.2', invalidGrant, ({ client }) => ({
      body: refreshGrant(client, token),
    })),
  ),
  refusal('refresh token with another counter', 'RFC 6749 10.4', invalidGrant, ({ client, refreshToken }) => ({
    body: refreshGrant(client, refreshToken.replace(/\.\d+\./, '.7.')),
  })),
  refusal('refresh token cut short', 'RFC 6749 10.4', invalidGrant, ({ client, refreshToken }) => ({
    body: refreshGrant(client, refreshToken.slice(0, -1)),
  })),
];
