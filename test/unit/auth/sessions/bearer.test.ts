import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { User } from '../../../../lambdas/auth/principals/user.ts';
import { type AuthService, type ClientCredentials, startAuthService } from '../../../support/auth-service.ts';

// Tests that {base_url} accepts access tokens (RFC 9068) as bearer tokens (RFC 6750) and verifies them strictly (RFC 8725).

describe.each(['ES256', 'RS256'] as const)('Bearer authentication with %s', algorithm => {
  let service: AuthService;
  let client: ClientCredentials;
  let user: User;
  let token: string;
  beforeAll(async () => {
    service = await startAuthService({ algorithm });
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    client = await service.makeClient();
    const newUser = await service.makeUser();
    user = newUser.user;
    token = (await service.logIn(client, newUser)).json.access_token;
  });

  const authenticate = (header: string | undefined) => service.authenticate(header);
  const outcome = async (text = token) => (await authenticate(`Bearer ${text}`)).outcome;
  const decode = (part: number) => JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString());
  const encode = (value: unknown) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const sessionId = () => decode(1).sid as string;
  const foreignKey =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
      : generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const ownKey = async () => {
    const key = (await service.keyring.list('signing')).find(({ keyId }) => keyId === decode(0).kid);
    if (!key) throw new Error('The key is gone.');
    return { ...key, privateKey: await service.keyring.open(key) };
  };
  const resign = async (header: object, claims: object = {}, isOwn = true) => {
    const key = isOwn ? (await ownKey()).privateKey : foreignKey;
    return new SignJWT({ ...decode(1), ...claims }).setProtectedHeader({ ...decode(0), ...header }).sign(key);
  };

  it('returns the principal after one uncached read.', async () => {
    await authenticate(`Bearer ${token}`);
    service.database.operations.length = 0;
    const ids = { clientId: client.id, userId: user.userId, sessionId: sessionId(), accountId: 'acme' };
    const scopes = new Set(['webhooks:manage', 'webhooks:read']);
    const principal = { ...ids, role: 'admin', scopes };
    expect(await authenticate(`bearer   ${token}`)).toEqual({ outcome: 'authenticated', principal });
    expect(service.database.operations).toEqual(['BatchGetItemCommand']);
  });

  const withoutToken = [undefined, '', 'Basic abc', 'Bearerx abc', 'Bearer', 'bearer', 'Bearer ', 'Bearer \t '];
  it.each(withoutToken)('reports a missing token for the header %j (RFC 6750 section 3.1).', async header => {
    expect(await authenticate(header)).toEqual({ outcome: 'missing' });
  });

  it.each(['abc', 'a.b.c', '..', 'a, Bearer b'])('reports an invalid token for the header "Bearer %s".', async text => {
    expect(await outcome(text)).toBe('invalid');
  });

  it('accepts a token until its expiry, to the millisecond.', async () => {
    service.clock.set(decode(1).exp * 1_000 - 1);
    expect(await outcome()).toBe('authenticated');
    service.clock.advance(1);
    expect(await outcome()).toBe('invalid');
  });

  it.each([
    ['the client is disabled', () => service.clients.setClientStatus(client.id, 'disabled')],
    ['the user is disabled', () => service.users.setUserStatus(user.userId, 'disabled')],
    ['the password was changed', () => service.users.setUserPassword(user.userId, 'new')],
    ['the session was revoked', () => service.sessions.revokeSession(sessionId(), 'reuse', 1)],
    [
      'the signing keys were revoked',
      async () => {
        await service.rotation.rotateNow('signing', { revoke: true });
        service.clock.advance(31_000);
      },
    ],
  ])('rejects a token once %s.', async (_, change) => {
    expect(await outcome()).toBe('authenticated');
    await change();
    expect(await outcome()).toBe('invalid');
  });

  it('returns no scopes for a demoted user.', async () => {
    await service.users.setUserRole(user.userId, 'member');
    expect(await authenticate(`Bearer ${token}`)).toMatchObject({
      outcome: 'authenticated',
      principal: { role: 'member', scopes: new Set() },
    });
  });

  it('accepts tokens of a retiring key.', async () => {
    await service.rotation.rotateNow('signing');
    service.clock.advance(31_000);
    expect(await outcome()).toBe('authenticated');
  });

  describe('rejects', () => {
    it('a token that another key signed.', async () => {
      expect(await outcome(await resign({}, {}, false))).toBe('invalid');
      expect(await outcome(await resign({}))).toBe('authenticated'); // checks that the forged token is otherwise valid
    });

    it('a token with the algorithm none.', async () => {
      for (const alg of ['none', 'None', 'NONE', '']) {
        const unsigned = `${encode({ ...decode(0), alg })}.${token.split('.')[1]}.`;
        expect(await outcome(unsigned)).toBe('invalid');
        expect(await outcome(`${unsigned}AA`)).toBe('invalid');
      }
    });

    it('a token that is signed with HS256 and the public key.', async () => {
      const { publicKey } = await ownKey();
      const signingInput = `${encode({ ...decode(0), alg: 'HS256' })}.${token.split('.')[1]}`;
      const mac = createHmac('sha256', String(publicKey)).update(signingInput).digest('base64url');
      expect(await outcome(`${signingInput}.${mac}`)).toBe('invalid');
    });

    it.each([
      ['an embedded key', { jwk: { kty: 'oct', k: 'AA' } }],
      ['a key URL', { jku: 'https://attacker.example/jwks.json' }],
      ['a certificate URL', { x5u: 'https://attacker.example/x5u' }],
      ['a key id that is a path', { kid: '../../dev/null' }],
      ['an unknown key id', { kid: 'nobody' }],
      ['a plain JWT', { typ: 'JWT' }],
      ['no type', { typ: undefined }],
      ['the long form of the type', { typ: 'application/at+jwt' }],
      ['an extra parameter', { cty: 'JWT' }],
    ])('%s in the header, even with a valid signature.', async (_, header) => {
      expect(await outcome(await resign(header))).toBe('invalid');
    });

    it.each([
      ['another issuer', { iss: 'https://attacker.example' }],
      ['another audience', { aud: 'https://attacker.example' }],
      ['no expiry', { exp: undefined }],
      ['no session', { sid: undefined }],
      ['an empty session', { sid: '' }],
      ['an empty user', { sub: '' }],
      ['an empty client', { client_id: '' }],
      ['an empty account', { account_id: '' }],
      ['a session id without a random part', { sid: '-' }],
      ['another account', { account_id: 'another' }],
      ['another client', { client_id: 'another' }],
    ])('%s in the claims, even with a valid signature.', async (_, claims) => {
      expect(await outcome(await resign({}, claims))).toBe('invalid');
    });

    it('changed claims.', async () => {
      const [header, , signature] = token.split('.');
      const changed = encode({ ...decode(1), account_id: 'another' });
      expect(await outcome(`${header}.${changed}.${signature}`)).toBe('invalid');
    });

    /** Returns a token with any header and claims and a valid signature. */
    const signText = async (header: string, claims: string) => {
      const text = `${encode(header)}.${encode(claims)}`;
      const { privateKey: key } = await ownKey();
      const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
      return `${text}.${signature.toString('base64url')}`;
    };

    it('a duplicate claim or header parameter, even with a valid signature (RFC 7519 section 4).', async () => {
      const [header, claims] = [JSON.stringify(decode(0)), JSON.stringify(decode(1))];
      expect(await outcome(await signText(header, claims))).toBe('authenticated'); // checks that the forged token is otherwise valid
      const twice = (text: string, more: string) => [text.replace('{', `{${more},`), text.replace(/}$/, `,${more}}`)];
      for (const duplicated of twice(claims, '"account_id":"another"')) {
        expect(await outcome(await signText(header, duplicated))).toBe('invalid');
      }
      for (const duplicated of twice(header, '"alg":"none"')) {
        expect(await outcome(await signText(duplicated, claims))).toBe('invalid');
      }
      const repeated = claims.replace(/"sub":"[^"]*"/, member => `${member},${member}`);
      expect(await outcome(await signText(header, repeated))).toBe('invalid');
    });

    it.each([
      ['with blanks', (json: string) => json.replaceAll(',', ', ')],
      ['with a line break at the end', (json: string) => `${json}\n`],
      ['with an escaped letter', (json: string) => json.replace('"sub"', '"\\u0073ub"')],
      ['that are not an object', () => '[]'],
      ['that are not JSON', () => 'sub=me'],
    ])('claims %s, even with a valid signature.', async (_, rewrite) => {
      const token = await signText(JSON.stringify(decode(0)), rewrite(JSON.stringify(decode(1))));
      expect(await outcome(token)).toBe('invalid');
    });

    it('an empty signature and a signature of zeros.', async () => {
      const signingInput = token.slice(0, token.lastIndexOf('.'));
      const length = Buffer.from(token.slice(signingInput.length + 1), 'base64url').length;
      for (const size of [0, 1, length]) {
        expect(await outcome(`${signingInput}.${Buffer.alloc(size).toString('base64url')}`)).toBe('invalid');
      }
    });

    it('another encoding of the same bytes.', async () => {
      const [header, claims, signature = ''] = token.split('.');
      const spellings = [`${token}=`, `${token}==`, `${header}=.${claims}.${signature}`, `${token}%0A`, `${token}.`];
      for (const spelling of spellings) expect(await outcome(spelling)).toBe('invalid');
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const others = [...alphabet].filter(last => last !== signature.at(-1));
      for (const last of others) expect(await outcome(`${token.slice(0, -1)}${last}`)).toBe('invalid');
    });
  });
});
