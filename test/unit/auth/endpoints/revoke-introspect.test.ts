import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AuthResponse,
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

const call = (endpoint: 'revoke' | 'introspect', form: Record<string, string>, from = client): Promise<AuthResponse> =>
  service.post(endpoint, { client_id: from.id, client_secret: from.secret, ...form });
const refresh = (token = tokens.refresh_token) => service.refresh(client, token);
const introspect = (token: string, from = client) => call('introspect', { token }, from);
const inactive = { status: 200, json: { active: false } };
const kinds = ['access_token', 'refresh_token'] as const;

// The world tests check which tokens are active (lab/world/auth/verdicts.ts).

describe('Revocation (RFC 7009)', () => {
  it.each(kinds)('of the %s ends the whole session, even with a wrong hint.', async kind => {
    const successor = (await refresh()).json.refresh_token;
    const revocation = { token: tokens[kind], token_type_hint: 'refresh_token' }; // section 2.1: the hint may be wrong
    for (let time = 0; time < 2; time++) expect(await call('revoke', revocation)).toMatchObject({ status: 200 });
    expect(await refresh(successor)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect(await introspect(tokens.access_token)).toMatchObject(inactive);
  });

  it('of an expired access token by its own client ends the session while the key is published.', async () => {
    service.clock.advance(3_600_000);
    expect(await introspect(tokens.access_token)).toMatchObject(inactive);
    const other = await service.makeClient();
    expect(await call('revoke', { token: tokens.access_token }, other)).toMatchObject({ status: 400 });
    expect((await refresh()).status).toBe(200);
    expect(await call('revoke', { token: tokens.access_token })).toMatchObject({ status: 200 });
    expect(await refresh()).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  });

  it.each(['unknown', 'a.b.c.d', 'a.b.c', ' '])('of the invalid token %j returns 200 (section 2.2).', async token => {
    expect(await call('revoke', { token })).toMatchObject({ status: 200, json: {} });
  });

  it.each(kinds)('of the %s of another client returns 400 and does not end the session.', async kind => {
    const response = await call('revoke', { token: tokens[kind] }, await service.makeClient());
    expect(response).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    expect(await introspect(tokens.access_token)).toMatchObject({ json: { active: true } });
    expect((await refresh()).status).toBe(200);
  });

  it('of an access token of another client returns 400 even if the session is deleted.', async () => {
    await service.sessionList.deleteSessions(userId);
    expect((await call('revoke', { token: tokens.access_token }, await service.makeClient())).status).toBe(400);
    expect((await call('revoke', { token: tokens.access_token })).status).toBe(200);
  });
});

describe('Introspection (RFC 7662)', () => {
  it('describes an access token and the current refresh token.', async () => {
    const successor = (await refresh()).json.refresh_token;
    const now = Math.floor(service.clock.now() / 1_000);
    const session = {
      ...{ active: true, scope: 'webhooks:read webhooks:manage', client_id: client.id, sub: userId },
      ...{ account_id: 'acme', sid: expect.stringContaining(userId), iss: authEnvironment.issuer, iat: now },
    };
    const ofAccess = { token_type: 'Bearer', aud: authEnvironment.audience, exp: now + 900, jti: expect.any(String) };
    expect((await introspect(tokens.access_token)).json).toEqual({ ...session, ...ofAccess });
    expect((await introspect(successor)).json).toEqual({ ...session, exp: now + 14 * 86_400 });
    expect(await introspect(tokens.refresh_token)).toMatchObject(inactive);
  });

  it.each(kinds)('describes the %s of another client only to a client that may introspect.', async kind => {
    const [other, privileged] = [await service.makeClient(), await service.makeClient({ introspect: true })];
    expect((await introspect(tokens[kind], other)).json).toEqual({ active: false });
    expect((await introspect(tokens[kind], privileged)).json).toMatchObject({ active: true, client_id: client.id });
    await service.clients.setClientStatus(client.id, 'disabled');
    expect((await introspect(tokens[kind], privileged)).json).toEqual({ active: false });
  });

  it('reports a refresh token as inactive while its client may not refresh.', async () => {
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

  it('reports an invalid or expired token as inactive.', async () => {
    for (const token of ['x', 'a.b.c', 'a-b.1.c.d']) expect((await introspect(token)).json).toEqual({ active: false });
    service.clock.advance(900_000);
    expect((await introspect(tokens.access_token)).json).toEqual({ active: false });
  });
});
