import { beforeAll, describe, expect, it } from 'vitest';
import type { Client, User } from '../../tools/support/accounts.ts';
import { passwordGrant, refreshGrant, type Tokens } from '../../tools/support/service-client.ts';
import { createClient, createUser, getTokens, logIn, postForm, postToken } from '../support/e2e-accounts.ts';
import { ops } from '../support/e2e-ops.ts';
import { callApi, expectProblem } from '../support/e2e-webhooks.ts';

let client: Client;
let otherClient: Client;
let user: User;

beforeAll(async () => {
  const grants = ['--grant', 'password', '--grant', 'refresh_token'];
  [client, otherClient, user] = await Promise.all([
    createClient(),
    createClient(...grants, '--introspect', '--grace-seconds', '0'),
    createUser(),
  ]);
});

const as = ({ clientId, clientSecret }: Client) => ({ client_id: clientId, client_secret: clientSecret });
const list = ({ access_token }: Tokens) => callApi('GET', '/v1/webhooks', { token: access_token });

const expectRefused = async (who: Client, refreshToken: string) => {
  const response = await postToken(refreshGrant(who, refreshToken));
  expect(response).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
};

describe('sessions of refresh tokens', () => {
  it('give parallel refreshes one successor', async () => {
    const { refresh_token } = await logIn(client, user);
    const answers = await Promise.all(Array.from({ length: 10 }, () => getTokens(refreshGrant(client, refresh_token))));
    expect(new Set(answers.map(answer => answer.refresh_token)).size).toBe(1);
    expect(new Set(answers.map(answer => answer.access_token)).size).toBe(10);
  });

  it('are revoked when a token two generations back is used (RFC 9700 section 4.14.2)', async () => {
    const first = await logIn(client, user);
    const second = await getTokens(refreshGrant(client, first.refresh_token));
    const third = await getTokens(refreshGrant(client, second.refresh_token));

    await expectRefused(client, first.refresh_token);
    await expectRefused(client, third.refresh_token);
  });

  it('are revoked by any second use where the grace period is 0, and none beside them', async () => {
    const [one, other] = await Promise.all([logIn(otherClient, user), logIn(otherClient, user)]);
    const next = await getTokens(refreshGrant(otherClient, one.refresh_token));
    await expectRefused(otherClient, one.refresh_token);
    await expectRefused(otherClient, next.refresh_token);
    await getTokens(refreshGrant(otherClient, other.refresh_token));
  });

  it('live as long as their access token where the client may not refresh', async () => {
    const [client, user] = await Promise.all([createClient('--grant', 'password'), createUser()]);
    const tokens = await getTokens(passwordGrant(client, user));
    const words = ['--user', user.email, '--client', client.clientId];
    const [session] = await ops<{ createdAt: string; expiresAt: string }[]>(['sessions', 'list', ...words]);
    const life = Date.parse(session?.expiresAt ?? '') - Date.parse(session?.createdAt ?? '');
    expect(life).toBe(tokens.expires_in * 1_000);
  });
});

describe('who is out is out at once, at both hosts', () => {
  it.each([
    ['a disabled user', (leaver: User) => ops(['users', 'disable', leaver.email])],
    ['a user with a new password', (leaver: User) => ops(['users', 'set-password', leaver.email], 'another password')],
    ['everyone at a disabled client', (_: User, own: Client) => ops(['clients', 'disable', own.clientId])],
  ])('%s', async (_title, end) => {
    const [own, leaver] = await Promise.all([createClient(), createUser()]);
    const tokens = await logIn(own, leaver);
    expect((await list(tokens)).status).toBe(200);
    await end(leaver, own);
    expectProblem(await list(tokens), 401, 'invalid_token');
    expect((await postToken(refreshGrant(own, tokens.refresh_token))).status).toBeGreaterThanOrEqual(400);
    expect((await postToken(passwordGrant(own, leaver))).status).toBeGreaterThanOrEqual(400);
  });

  it('a user who is no longer admin', async () => {
    const demoted = await createUser();
    const tokens = await logIn(client, demoted);
    await ops(['users', 'set-role', demoted.email, 'member']);
    expectProblem(await list(tokens), 403, 'admin_required');
    expect(await getTokens(refreshGrant(client, tokens.refresh_token))).not.toHaveProperty('scope');
  });
});

describe('revocation (RFC 7009) and introspection (RFC 7662)', () => {
  const revoke = (who: Client, token: string) => postForm('revoke', { ...as(who), token });
  const introspect = async (who: Client, token: string) => (await postForm('introspect', { ...as(who), token })).json;

  it.each(['refresh_token', 'access_token'] as const)('a revoked %s ends the whole session', async kind => {
    const tokens = await logIn(client, user);
    expect(await introspect(client, tokens.access_token)).toMatchObject({
      active: true,
      client_id: client.clientId,
      sub: user.userId,
      scope: expect.stringContaining('webhooks'),
    });
    expect((await revoke(client, tokens[kind])).status).toBe(200);
    expect(await introspect(client, tokens.access_token)).toEqual({ active: false });
    await expectRefused(client, tokens.refresh_token);
    expect((await list(tokens)).status).toBe(401);
  });

  it("another client's token is told to those alone that may introspect, and is not revoked (RFC 7009 section 2.1)", async () => {
    const [tokens, stranger] = await Promise.all([logIn(client, user), createClient()]);
    expect(await introspect(stranger, tokens.access_token)).toEqual({ active: false });
    expect(await introspect(otherClient, tokens.access_token)).toMatchObject({ active: true });
    expect(await revoke(otherClient, tokens.refresh_token)).toMatchObject({
      status: 400,
      json: { error: 'invalid_request' },
    });
    await getTokens(refreshGrant(client, tokens.refresh_token));
  });
});
