import { describe, expect, it } from 'vitest';
import { passwordGrant, refreshGrant } from '../../tools/support/service-client.ts';
import { createClient, createUser, getTokens, logIn, postToken } from '../support/e2e-accounts.ts';
import { ops } from '../support/e2e-ops.ts';

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

    const words = ['--user', user.email, '--client', client.clientId, '--limit', '1000'];
    const live = await ops<unknown[]>(['sessions', 'list', ...words]);
    expect(live.length).toBeLessThanOrEqual(240);
    expect(live.length).toBeGreaterThanOrEqual(180);
    const latest = await logIn(client, user);
    await getTokens(refreshGrant(client, latest.refresh_token));
    const ended = await postToken(refreshGrant(client, first.refresh_token));
    expect(ended.json).toMatchObject({ error: 'invalid_grant' });
  }, 240_000);
});
