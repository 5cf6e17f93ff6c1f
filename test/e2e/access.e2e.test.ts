import { beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../tools/support/accounts.ts';
import { passwordGrant } from '../../tools/support/service-client.ts';
import { createClient, createUser, getTokens } from '../support/e2e-accounts.ts';
import { ops } from '../support/e2e-ops.ts';
import { callApi, expectProblem, openSession } from '../support/e2e-webhooks.ts';

let client: Client;

beforeAll(async () => {
  client = await createClient();
});

describe('who is out is out at once', () => {
  it.each([
    ['a disabled user', (user: { email: string }) => ops(['users', 'disable', user.email]), 401, 'invalid_token'],
    [
      'a user with a new password',
      (user: { email: string }) => ops(['users', 'set-password', user.email], 'another password'),
      ...([401, 'invalid_token'] as const),
    ],
    [
      'a user who is no longer admin',
      (user: { email: string }) => ops(['users', 'set-role', user.email, 'member']),
      ...([403, 'admin_required'] as const),
    ],
  ] as const)('%s', async (_title, change, status, code) => {
    const session = await openSession(client);
    expect((await callApi('GET', '/v1/webhooks', { token: session.token })).status).toBe(200);
    await change(session.user);
    expectProblem(await callApi('GET', '/v1/webhooks', { token: session.token }), status, code);
  });

  it('everyone who logged in through a disabled client', async () => {
    const [closing, user] = await Promise.all([createClient(), createUser()]);
    const { access_token } = await getTokens(passwordGrant(closing, user));
    await ops(['clients', 'disable', closing.clientId]);
    expectProblem(await callApi('GET', '/v1/webhooks', { token: access_token }), 401, 'invalid_token');
  });
});
