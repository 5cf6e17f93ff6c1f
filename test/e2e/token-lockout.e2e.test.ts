import { beforeAll, describe, expect, it } from 'vitest';
import type { Client, User } from '../../tools/support/accounts.ts';
import { passwordGrant } from '../../tools/support/service-client.ts';
import { createClient, createUser, logIn, postToken } from '../support/e2e-accounts.ts';
import { until } from '../support/e2e-poll.ts';

let client: Client;
let otherClient: Client;

beforeAll(async () => {
  [client, otherClient] = await Promise.all([createClient(), createClient()]);
});

const attempt = async (form: Record<string, string>) => {
  const { status, text } = await postToken(form);
  return { status, text };
};

/**
 * Guesses until a right password meets a standing lock, and returns that answer and a wrong guess's. The first lock
 * stands for a second only: on a slow machine it may be over before the right password arrives, which clears the count.
 */
const lockOut = (user: User) =>
  until('a lock', async () => {
    const wrong = { ...passwordGrant(client, user), password: 'wrong' };
    const guesses = [];
    for (let guess = 0; guess < 5; guess++) guesses.push(await attempt(wrong));
    const right = await attempt(passwordGrant(client, user));
    return right.status === 200 ? undefined : { right, wrong: guesses[0] };
  });

describe('the lockout after five failures', () => {
  it('looks like a wrong password, and ends by itself', async () => {
    const user = await createUser();
    const { right, wrong } = await lockOut(user);
    expect(right).toEqual(wrong);
    expect(right.status).toBe(400);
    await until('the end of the lock', async () => {
      const { status } = await attempt(passwordGrant(client, user));
      return status === 200 ? true : undefined;
    });
  });

  it('holds for one client: others still log the user in', async () => {
    const user = await createUser();
    await lockOut(user);
    await logIn(otherClient, user);
  });
});
