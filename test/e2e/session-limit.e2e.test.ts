import { describe, expect, it } from 'vitest';
import type { Client, User } from '../../tools/support/accounts.ts';
import { passwordGrant, refreshGrant } from '../../tools/support/service-client.ts';
import { createClient, createUser, getTokens, logIn, postToken } from '../support/e2e-accounts.ts';
import { ops } from '../support/e2e-ops.ts';

interface Listed {
  readonly sessionId: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

const list = (user: User, client: Client) =>
  ops<Listed[]>(['sessions', 'list', '--user', user.email, '--client', client.clientId, '--limit', '1000']);

describe('sessions', () => {
  it('of a user at one client are about 200, however often a client logs in', async () => {
    const [client, user] = await Promise.all([createClient(), createUser()]);
    const first = await logIn(client, user);
    const statuses = new Set<number>();
    let left = 260;
    const logInOnAndOn = async () => {
      while (left-- > 0) statuses.add((await postToken(passwordGrant(client, user))).status);
    };
    await Promise.all(Array.from({ length: 6 }, logInOnAndOn));
    expect(statuses).toEqual(new Set([200]));

    const live = await list(user, client);
    expect(live.length).toBeLessThanOrEqual(240);
    expect(live.length).toBeGreaterThanOrEqual(180);
    const latest = await logIn(client, user);
    await getTokens(refreshGrant(client, latest.refresh_token));
    const ended = await postToken(refreshGrant(client, first.refresh_token));
    expect(ended.json).toMatchObject({ error: 'invalid_grant' });
  }, 240_000);

  it('live as long as their access token where the client may not refresh', async () => {
    const [client, user] = await Promise.all([createClient('--grant', 'password'), createUser()]);
    const tokens = await getTokens(passwordGrant(client, user));
    const [session] = await list(user, client);
    const life = Date.parse(session?.expiresAt ?? '') - Date.parse(session?.createdAt ?? '');
    expect(life).toBe(tokens.expires_in * 1_000);
  });
});
