import { beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../tools/support/accounts.ts';
import { passwordGrant, refreshGrant } from '../../tools/support/service-client.ts';
import { createClient, createUser, getTokens, logIn, postForm } from '../support/e2e-service.ts';
import { until } from '../support/e2e-target.ts';

let client: Client;
beforeAll(async () => {
  client = await createClient();
});

it('no scope is beyond the role, or beyond those that the session began with', async () => {
  const [member, admin] = await Promise.all([createUser({ role: 'member' }), createUser()]);
  const ofMember = { ...passwordGrant(client, member), scope: 'webhooks:read' };
  const { refresh_token } = await getTokens({ ...passwordGrant(client, admin), scope: 'webhooks:read' });
  const wider = { ...refreshGrant(client, refresh_token), scope: 'webhooks:manage' };
  for (const form of [ofMember, wider])
    expect(await postForm('token', form)).toMatchObject({ status: 400, json: { error: 'invalid_scope' } });
});

describe('the lockout after five failures', () => {
  // The first lock stands for a second only: on a slow machine it may be over before the right password arrives, which clears the count.
  it('looks like a wrong password, holds for one client, and ends by itself', async () => {
    const [user, otherClient] = await Promise.all([createUser(), createClient()]);
    const attempt = async (password: string) => {
      const { status, text } = await postForm('token', { ...passwordGrant(client, user), password });
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
