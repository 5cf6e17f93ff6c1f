import { createRemoteJWKSet, jwtVerify } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Client, User } from '../../tools/support/accounts.ts';
import { passwordGrant, refreshGrant, type Tokens } from '../../tools/support/service-client.ts';
import { createClient, createUser, getTokens, logIn, postToken } from '../support/e2e-accounts.ts';
import { authUrl, baseUrl, plant } from '../support/e2e-target.ts';

let client: Client;
let admin: User;
let member: User;

beforeAll(async () => {
  [client, admin] = await Promise.all([createClient(), createUser()]);
  member = await createUser({ account: admin.account, role: 'member' });
});

/** RFC 6749 section 2.3.1: both halves are form-encoded before they are joined. */
const basic = (id: string, secret: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});

const withoutClient = (form: Record<string, string>) =>
  Object.fromEntries(Object.entries(form).filter(([name]) => !name.startsWith('client_')));

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

  it.each([
    ['Basic', (id: string, secret: string) => basic(id, secret)],
    ['Basic, percent-encoded throughout', (id: string, secret: string) => basic(percent(id), percent(secret))],
    ['Basic in lower case (RFC 9110 section 11.1)', lowerCaseBasic],
  ])('takes the client credentials as %s', async (_title, headers) => {
    const form = withoutClient(passwordGrant(client, admin));
    const response = await postToken(form, headers(client.clientId, client.clientSecret));
    expect(response.status).toBe(200);
  });

  it('takes Basic beside the same client_id in the body', async () => {
    const form = { ...withoutClient(passwordGrant(client, admin)), client_id: client.clientId };
    const response = await postToken(form, basic(client.clientId, client.clientSecret));
    expect(response.status).toBe(200);
  });

  it.each([
    ['a charset parameter of utf-8', {}, { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }],
    ['an unknown parameter', { response_type: 'token', colour: 'blue' }, {}],
    ['an empty scope, which counts as absent (RFC 6749 section 3.1)', { scope: '' }, {}],
  ])('takes %s', async (_title, more, headers) => {
    const response = await postToken({ ...passwordGrant(client, admin), ...more }, headers);
    expect(response.status).toBe(200);
  });

  it('knows the e-mail address in any case, with blanks around it', async () => {
    const response = await postToken(passwordGrant(client, { ...admin, email: ` ${admin.email.toUpperCase()} ` }));
    expect(response.status).toBe(200);
  });

  it('knows a password in any Unicode normal form', async () => {
    const decomposed = { ...admin, password: admin.password.normalize('NFD') };
    expect(decomposed.password).not.toBe(admin.password);
    expect((await postToken(passwordGrant(client, decomposed))).status).toBe(200);
  });
});

describe('scopes (RFC 6749 section 3.3)', () => {
  it('honours a narrower request', async () => {
    const tokens = await getTokens({ ...passwordGrant(client, admin), scope: 'webhooks:read' });
    expect(tokens.scope).toBe('webhooks:read');
  });

  it('gives members none, and leaves the field out', async () => {
    expect(await logIn(client, member)).not.toHaveProperty('scope');
  });

  it('refuses scopes of which the role has none', async () => {
    const response = await postToken({ ...passwordGrant(client, member), scope: 'webhooks:manage' });
    expect(response.status).toBe(400);
    expect(response.json).toMatchObject({ error: 'invalid_scope' });
    expect(await getTokens(passwordGrant(client, member))).not.toHaveProperty('scope');
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

  it('honours a narrower scope, while the session keeps its own', async () => {
    const first = await logIn(client, admin);
    const narrow = await getTokens({ ...refreshGrant(client, first.refresh_token), scope: 'webhooks:read' });
    expect(narrow.scope).toBe('webhooks:read');
    const wide = await getTokens(refreshGrant(client, narrow.refresh_token));
    expect(wide.scope).toBe(first.scope);
  });

  it('gives a client without that grant no refresh token', async () => {
    const passwordOnly = await createClient('--grant', 'password');
    const response = await postToken(passwordGrant(passwordOnly, admin));
    expect(response.json).not.toHaveProperty('refresh_token');
  });
});

function percent(text: string): string {
  return [...Buffer.from(text)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

function lowerCaseBasic(id: string, secret: string): Record<string, string> {
  return { authorization: (basic(id, secret).authorization ?? '').replace('Basic', 'basic') };
}
