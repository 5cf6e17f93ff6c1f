import { beforeAll, describe, expect, it } from 'vitest';
import type { Client, User } from '../../tools/support/accounts.ts';
import { passwordGrant, refreshGrant } from '../../tools/support/service-client.ts';
import { createClient, createUser, getTokens, logIn, postToken } from '../support/e2e-accounts.ts';
import { ops } from '../support/e2e-ops.ts';

let client: Client;
let strictClient: Client;
let user: User;

beforeAll(async () => {
  [client, strictClient, user] = await Promise.all([
    createClient(),
    createClient('--grant', 'password', '--grant', 'refresh_token', '--grace-seconds', '0'),
    createUser(),
  ]);
});

const expectRefused = async (who: Client, refreshToken: string, error = 'invalid_grant') => {
  const response = await postToken(refreshGrant(who, refreshToken));
  expect(response.status).toBe(400);
  expect(response.json).toMatchObject({ error });
};

describe('sessions of refresh tokens', () => {
  it('give the same successor again inside the grace period, with a fresh access token', async () => {
    const first = await logIn(client, user);
    const second = await getTokens(refreshGrant(client, first.refresh_token));
    const again = await getTokens(refreshGrant(client, first.refresh_token));

    expect(again.refresh_token).toBe(second.refresh_token);
    expect(again.access_token).not.toBe(second.access_token);
  });

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

  it('are revoked by any second use where the grace period is 0', async () => {
    const first = await logIn(strictClient, user);
    const second = await getTokens(refreshGrant(strictClient, first.refresh_token));

    await expectRefused(strictClient, first.refresh_token);
    await expectRefused(strictClient, second.refresh_token);
  });

  it('stay alive when another client presents their token (RFC 6749 section 6)', async () => {
    const { refresh_token } = await logIn(client, user);
    await expectRefused(strictClient, refresh_token);
    await getTokens(refreshGrant(client, refresh_token));
  });

  it('refuse a wider scope than they began with, and stay alive (RFC 6749 section 6)', async () => {
    const narrow = await getTokens({ ...passwordGrant(client, user), scope: 'webhooks:read' });
    const response = await postToken({ ...refreshGrant(client, narrow.refresh_token), scope: 'webhooks:manage' });
    expect(response.status).toBe(400);
    expect(response.json).toMatchObject({ error: 'invalid_scope' });
    await getTokens(refreshGrant(client, narrow.refresh_token));
  });

  it('do not touch each other', async () => {
    const [one, other] = await Promise.all([logIn(strictClient, user), logIn(strictClient, user)]);
    await getTokens(refreshGrant(strictClient, one.refresh_token));
    await expectRefused(strictClient, one.refresh_token);
    await getTokens(refreshGrant(strictClient, other.refresh_token));
  });

  it('end with a disabled user', async () => {
    const leaver = await createUser();
    const { refresh_token } = await logIn(client, leaver);
    await ops(['users', 'disable', leaver.email]);
    await expectRefused(client, refresh_token);
    await ops(['users', 'enable', leaver.email]);
    await expectRefused(client, refresh_token);
    await logIn(client, leaver);
  });

  it('end with a changed password', async () => {
    const changer = await createUser();
    const { refresh_token } = await logIn(client, changer);
    const password = `${changer.password}-new`;
    await ops(['users', 'set-password', changer.email], password);

    await expectRefused(client, refresh_token);
    expect((await postToken(passwordGrant(client, changer))).status).toBe(400);
    await logIn(client, { ...changer, password });
  });

  it('lose the scopes that the role has lost', async () => {
    const demoted = await createUser();
    const { refresh_token } = await logIn(client, demoted);
    await ops(['users', 'set-role', demoted.email, 'member']);
    expect(await getTokens(refreshGrant(client, refresh_token))).not.toHaveProperty('scope');
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
