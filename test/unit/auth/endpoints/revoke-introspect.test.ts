import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type Answer,
  authEnvironment,
  type ClientCredentials,
  startAuthService,
} from '../../../support/auth-service.ts';

let client: ClientCredentials;
let tokens: { access_token: string; refresh_token: string };
let userId: string;
const service = await startAuthService();
afterAll(() => service.stop());
beforeEach(async () => {
  client = await service.makeClient();
  const user = await service.makeUser();
  ({ userId } = user.user);
  tokens = (await service.logIn(client, user)).json;
});

const call = (endpoint: 'revoke' | 'introspect', form: Record<string, string>, from = client): Promise<Answer> =>
  service.post(endpoint, { client_id: from.id, client_secret: from.secret, ...form });
const refresh = (token = tokens.refresh_token) => service.refresh(client, token);
const introspect = (token: string, from = client) => call('introspect', { token }, from);
const inactive = { status: 200, json: { active: false } };
const kinds = ['access_token', 'refresh_token'] as const;

it.each(['revoke', 'introspect'] as const)(
  '%s takes a Basic header with neither id nor secret for none, as the token endpoint does',
  async endpoint => {
    const form = { client_id: client.id, client_secret: client.secret, token: 'any' };
    expect(await service.post(endpoint, form, { headers: { authorization: 'Basic Og==' } })).toMatchObject({
      status: 200,
    });
  },
);

describe('revocation (RFC 7009)', () => {
  it.each(kinds)('of an %s ends the whole session', async kind => {
    const successor = (await refresh()).json.refresh_token;
    expect(await call('revoke', { token: tokens[kind] })).toMatchObject({ status: 200 });
    expect(await refresh(successor)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect(await introspect(tokens.access_token)).toMatchObject(inactive);
    expect(await call('revoke', { token: tokens[kind] })).toMatchObject({ status: 200 });
  });

  it('of an expired access token ends the session too, as long as its key is published', async () => {
    service.clock.advance(3_600_000);
    expect(await introspect(tokens.access_token)).toMatchObject(inactive);
    expect(await call('revoke', { token: tokens.access_token })).toMatchObject({ status: 200 });
    expect(await refresh()).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  });

  it('of an expired access token is refused to another client', async () => {
    service.clock.advance(3_600_000);
    const other = await service.makeClient();
    expect(await call('revoke', { token: tokens.access_token }, other)).toMatchObject({ status: 400 });
    expect((await refresh()).status).toBe(200);
  });

  it('ignores the hint, even a wrong one (RFC 7009 2.1)', async () => {
    const answer = await call('revoke', { token: tokens.refresh_token, token_type_hint: 'access_token' });
    expect(answer.status).toBe(200);
    expect(await refresh()).toMatchObject({ status: 400 });
  });

  it.each(['unknown', 'a.b.c.d', 'a.b.c', ' '])('answers 200 for %j, which is no token (RFC 7009 2.2)', async token => {
    expect(await call('revoke', { token })).toMatchObject({ status: 200, json: {} });
  });

  it.each(kinds)('refuses the %s of another client, and does not end its session', async kind => {
    const other = await service.makeClient();
    const answer = await call('revoke', { token: tokens[kind] }, other);
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    expect(await introspect(tokens.access_token)).toMatchObject({ json: { active: true } });
    expect((await refresh()).status).toBe(200);
  });

  it('refuses the access token of another client also where its session is gone', async () => {
    await service.sessionList.deleteSessions(userId);
    expect((await call('revoke', { token: tokens.access_token }, await service.makeClient())).status).toBe(400);
    expect((await call('revoke', { token: tokens.access_token })).status).toBe(200);
  });
});

describe('introspection (RFC 7662)', () => {
  it('describes an access token', async () => {
    const now = Math.floor(service.clock.now() / 1_000);
    expect((await introspect(tokens.access_token)).json).toEqual({
      active: true,
      token_type: 'Bearer',
      scope: 'webhooks:read webhooks:manage',
      client_id: client.id,
      sub: userId,
      account_id: 'acme',
      sid: expect.stringContaining(userId),
      iss: authEnvironment.issuer,
      aud: authEnvironment.audience,
      iat: now,
      exp: now + 900,
      jti: expect.any(String),
    });
  });

  it('describes the current refresh token, and no earlier one', async () => {
    const successor = (await refresh()).json.refresh_token;
    const now = Math.floor(service.clock.now() / 1_000);
    expect((await introspect(successor)).json).toEqual({
      active: true,
      scope: 'webhooks:read webhooks:manage',
      client_id: client.id,
      sub: userId,
      account_id: 'acme',
      sid: expect.stringContaining(userId),
      iss: authEnvironment.issuer,
      iat: now,
      exp: now + 14 * 86_400,
    });
    expect(await introspect(tokens.refresh_token)).toMatchObject(inactive);
  });

  it.each(kinds)('describes the %s of another client only to a client that may introspect', async kind => {
    const other = await service.makeClient();
    const privileged = await service.makeClient({ introspect: true });
    const hidden = await introspect(tokens[kind], other);
    expect(hidden.json).toEqual({ active: false });
    expect((await introspect(tokens[kind], privileged)).json).toMatchObject({ active: true, client_id: client.id });
    await service.clients.setClientStatus(client.id, 'disabled');
    expect((await introspect(tokens[kind], privileged)).json).toEqual({ active: false });
  });

  it('calls a refresh token inactive whose client may not refresh any more, for as long as it may not', async () => {
    const privileged = await service.makeClient({ introspect: true });
    await service.clients.updateClient(client.id, { grants: ['password'] });
    for (const from of [client, privileged]) {
      expect((await introspect(tokens.refresh_token, from)).json).toEqual({ active: false });
      expect((await introspect(tokens.access_token, from)).json).toMatchObject({ active: true });
    }
    service.clock.advance(1);
    await service.clients.updateClient(client.id, { grants: ['password', 'refresh_token'] });
    expect((await introspect(tokens.refresh_token)).json).toMatchObject({ active: true });
  });

  it('gives the scopes that the role still has', async () => {
    await service.users.setUserRole(userId, 'member');
    for (const kind of kinds) expect((await introspect(tokens[kind])).json).not.toHaveProperty('scope');
  });

  it('calls everything else inactive', async () => {
    for (const token of ['x', 'a.b.c', 'a-b.1.c.d']) expect((await introspect(token)).json).toEqual({ active: false });
    service.clock.advance(900_000);
    expect((await introspect(tokens.access_token)).json).toEqual({ active: false });
  });
});
