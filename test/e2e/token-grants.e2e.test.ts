import { createRemoteJWKSet, jwtVerify } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Client, User } from '../../tools/support/accounts.ts';
import { passwordGrant, refreshGrant, type Tokens } from '../../tools/support/service-client.ts';
import { createClient, createUser, getTokens, logIn, postToken } from '../support/e2e-accounts.ts';
import { until } from '../support/e2e-poll.ts';
import { authUrl, baseUrl, plant } from '../support/e2e-target.ts';

let client: Client;
let admin: User;
let member: User;

beforeAll(async () => {
  [client, admin] = await Promise.all([createClient(), createUser()]);
  member = await createUser({ account: admin.account, role: 'member' });
});

describe('the password grant (RFC 6749 section 4.3)', () => {
  it('answers as section 5.1 says', async () => {
    const response = await postToken(passwordGrant(client, admin));

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('pragma')).toBe('no-cache');
    const tokens = response.json as unknown as Tokens;
    expect(tokens).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 900,
      refresh_token: expect.any(String),
      scope: expect.any(String),
    });
    expect(tokens.scope?.split(' ').sort()).toEqual(['webhooks:manage', 'webhooks:read']);
    plant(tokens.access_token);
    plant(tokens.refresh_token);
  });

  it('signs an access token that RFC 9068 describes and the JWKS verifies', async () => {
    const { access_token } = await logIn(client, admin);
    const keys = createRemoteJWKSet(new URL(`${authUrl}/.well-known/jwks.json`));

    const { payload, protectedHeader } = await jwtVerify(access_token, keys, {
      typ: 'at+jwt',
      issuer: authUrl,
      audience: baseUrl,
      algorithms: ['ES256', 'RS256'],
    });

    expect(protectedHeader.kid).toEqual(expect.any(String));
    expect(payload).toMatchObject({
      sub: admin.userId,
      client_id: client.clientId,
      account_id: admin.account,
      scope: expect.stringContaining('webhooks:manage'),
      jti: expect.any(String),
      sid: expect.any(String),
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(900);
  });

  it('takes what gateways may change: Basic in lower case, a charset, blanks around the address', async () => {
    const { client_id: id, client_secret: secret, ...form } = passwordGrant(client, admin);
    const response = await postToken(
      { ...form, username: ` ${admin.email.toUpperCase()} ` },
      {
        authorization: `basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
      },
    );
    expect(response.status).toBe(200);
  });

  it('gives scopes as asked for, and members none', async () => {
    const tokens = await getTokens({ ...passwordGrant(client, admin), scope: 'webhooks:read' });
    expect(tokens.scope).toBe('webhooks:read');
    expect(await logIn(client, member)).not.toHaveProperty('scope');
    const refused = await postToken({ ...passwordGrant(client, member), scope: 'webhooks:manage' });
    expect(refused).toMatchObject({ status: 400, json: { error: 'invalid_scope' } });
  });
});

describe('the refresh grant (RFC 6749 section 6)', () => {
  it('gives a new pair of tokens for the same user', async () => {
    const first = await logIn(client, admin);
    const second = await getTokens(refreshGrant(client, first.refresh_token));

    expect(second).toMatchObject({ token_type: 'Bearer', expires_in: 900, scope: first.scope });
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(second.access_token).not.toBe(first.access_token);
    await getTokens(refreshGrant(client, second.refresh_token));
  });

  it('refuses a wider scope than the session began with, which stays alive', async () => {
    const narrow = await getTokens({ ...passwordGrant(client, admin), scope: 'webhooks:read' });
    const refused = await postToken({ ...refreshGrant(client, narrow.refresh_token), scope: 'webhooks:manage' });
    expect(refused).toMatchObject({ status: 400, json: { error: 'invalid_scope' } });
    await getTokens(refreshGrant(client, narrow.refresh_token));
  });

  it('is not there for a client without it', async () => {
    const passwordOnly = await createClient('--grant', 'password');
    const response = await postToken(passwordGrant(passwordOnly, admin));
    expect(response.json).not.toHaveProperty('refresh_token');
  });
});

describe('the lockout after five failures', () => {
  // The first lock stands for a second only: on a slow machine it may be over before the right password arrives, which clears the count.
  it('looks like a wrong password, holds for one client, and ends by itself', async () => {
    const [user, otherClient] = await Promise.all([createUser(), createClient()]);
    const attempt = async (password: string) => {
      const { status, text } = await postToken({ ...passwordGrant(client, user), password });
      return { status, text };
    };
    await until('a lock', async () => {
      const guesses = [];
      for (let guess = 0; guess < 5; guess++) guesses.push(await attempt('wrong'));
      const right = await attempt(user.password);
      if (right.status === 200) return undefined;
      expect(right).toEqual(guesses[0]);
      return true;
    });
    await logIn(otherClient, user);
    await until('the end of the lock', async () => ((await attempt(user.password)).status === 200 ? true : undefined));
  });
});
