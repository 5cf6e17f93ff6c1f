import { GetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { clientLimitKey } from '../../../../lambdas/auth/protection/rate-limit.ts';
import { type ClientCredentials, startAuthService } from '../../../support/auth-service.ts';
import { judgedBy } from '../../../support/password-hashing.ts';

/** Verification without the cost, since hundreds of guesses are made here; a slow one waits for `hold`. */
let hold = Promise.withResolvers<void>();
let held = 0;
const isRight = async (password: string): Promise<boolean> => {
  if (password.startsWith('slow')) {
    held++;
    await hold.promise;
  }
  return !password.endsWith('wrong');
};

let client: ClientCredentials;
const service = await startAuthService({ keyDerivation: judgedBy(isRight) });
afterAll(() => service.stop());
beforeEach(async () => {
  hold = Promise.withResolvers<void>();
  held = 0;
  client = await service.makeClient();
});

const login = (username: string, password: string, from = client) => service.logIn(from, { username, password });
const fail = async (times: number, username: string, from = client): Promise<void> => {
  for (let time = 0; time < times; time++) await login(username, 'wrong', from);
};
const refused = { status: 400, json: { error: 'invalid_grant' } };

describe('the login lockout', () => {
  it('begins with the fifth failure at 1 s, and doubles with each further one', async () => {
    const { username, password } = await service.makeUser();
    await fail(4, username);
    expect(await login(username, password)).toMatchObject({ status: 200 });

    await fail(5, username);
    for (const seconds of [1, 2, 4]) {
      service.clock.advance(seconds * 1_000 - 1);
      expect(await login(username, password)).toMatchObject(refused);
      service.clock.advance(1);
      await fail(1, username);
    }
    service.clock.advance(8_000);
    expect(await login(username, password)).toMatchObject({ status: 200 });
  });

  it('does not stand after fewer failures, though they were counted by a clock that is ahead', async () => {
    const { username, password } = await service.makeUser();
    await fail(4, username);
    service.clock.advance(-50);
    const other = await service.makeClient();
    expect(await login(username, password, other)).toMatchObject({ status: 200 });
    expect(await login(username, password)).toMatchObject({ status: 200 });
    service.clock.advance(50);
  });

  it('never lasts longer than 15 minutes', async () => {
    const { username, password } = await service.makeUser();
    await fail(4, username);
    for (let time = 0; time < 11; time++) {
      await fail(1, username); // the last one is the 15th: without the cap it locked for 1,024 s
      service.clock.advance(15 * 60_000);
    }
    expect(await login(username, password)).toMatchObject({ status: 200 });
  });

  it('is not extended by attempts during the lock, which do not count', async () => {
    const { username, password } = await service.makeUser();
    await fail(5, username);
    service.clock.advance(999);
    await fail(20, username);
    service.clock.advance(1);
    expect(await login(username, password)).toMatchObject({ status: 200 });
  });

  it.each([
    ['a success', async (username: string, password: string) => void (await login(username, password))],
    ['24 hours', async () => service.clock.advance(24 * 3_600_000)],
  ])('is reset by %s', async (_, clear) => {
    const { username, password } = await service.makeUser();
    await fail(4, username);
    await clear(username, password);
    await fail(4, username);
    expect(await login(username, password)).toMatchObject({ status: 200 });
  });

  it('stores no e-mail address', async () => {
    await fail(1, 'canary-7f3a@example.com');
    const { Items } = await service.database.dynamo(new ScanCommand({ TableName: 'Lockouts' }));
    expect(Items?.length).toBeGreaterThan(0);
    expect(JSON.stringify(Items)).not.toContain('canary-7f3a');
  });

  it('applies to unknown e-mail addresses too, against user enumeration', async () => {
    await fail(5, 'nobody@example.com');
    await login('NOBODY@example.com', 'wrong');
    expect(service.logs.at(-1)).toContain('user_locked');
  });

  it('refuses a right guess that is concurrent with enough wrong ones', async () => {
    const { username, password } = await service.makeUser();
    hold = Promise.withResolvers<void>();
    const right = login(username, `slow ${password}`);
    await fail(5, username);
    hold.resolve();
    expect(await right).toMatchObject(refused);
    expect(service.logs.at(-1)).toContain('user_locked');
  });

  it('counts every wrong guess of a concurrent burst', async () => {
    const { username, password } = await service.makeUser();
    const guesses = Array.from({ length: 7 }, () => login(username, 'slow wrong'));
    hold.resolve();
    await Promise.all(guesses);
    service.clock.advance(3_999); // seven were counted: 4 s
    expect(await login(username, password)).toMatchObject(refused);
    service.clock.advance(1);
    expect(await login(username, password)).toMatchObject({ status: 200 });
  });

  it('counts a failure that was judged while a lock began', async () => {
    const { username, password } = await service.makeUser();
    const late = login(username, 'slow wrong');
    await fail(5, username);
    hold.resolve();
    await late;
    service.clock.advance(1_999); // six: 2 s
    expect(await login(username, password)).toMatchObject(refused);
    service.clock.advance(1);
    expect(await login(username, password)).toMatchObject({ status: 200 });
  });

  it.each([
    ['a lock', 'admin', (username: string) => fail(5, username)],
    ['for scopes of which the role has none, a lock', 'member', (username: string) => fail(5, username)],
  ] as const)('refuses a right guess when %s has begun since, even if it has ended by now', async (_, role, lock) => {
    const { username, password } = await service.makeUser({ role });
    const guess = { username, password: `slow ${password}` };
    const right = service.logIn(client, guess, { scope: 'webhooks:read' });
    while (held < 1) await new Promise(setImmediate);
    await lock(username);
    service.clock.advance(1_000);
    hold.resolve();
    expect(await right).toMatchObject(refused);
    expect(service.logs.at(-1)).toContain('user_locked_meanwhile');
  });

  // Bug: only wrong ones were counted, so that the counts told which burst held the right one.
  it.each([
    ['wrong', 'admin', ' wrong', 6],
    ['right', 'admin', '', 5],
    ['right, for scopes of which the role has none', 'member', '', 5],
  ] as const)('counts a guess that a lock overtakes, be it %s', async (_, role, end, refusedPasswords) => {
    const { username, password } = await service.makeUser({ role });
    const guess = service.logIn(client, { username, password: `slow ${password}${end}` }, { scope: 'webhooks:read' });
    while (held < 1) await new Promise(setImmediate);
    await fail(5, username);
    service.clock.advance(1_000);
    hold.resolve();
    expect(await guess).toMatchObject(refused);
    const { table: TableName, key: Key } = clientLimitKey('Lockouts', client.id);
    const { Item: count } = await service.database.dynamo(new GetCommand({ TableName, Key }));
    expect(count).toMatchObject({ count: refusedPasswords });
    service.clock.advance(1_999); // six: 2 s
    expect(await login(username, password)).toMatchObject(refused);
    service.clock.advance(1);
    expect(await login(username, password)).toMatchObject({ status: 200 });
  });

  it('starts again with concurrent failures when the last one is a day old', async () => {
    const { username, password } = await service.makeUser();
    await fail(4, username);
    service.clock.advance(24 * 3_600_000);
    const guesses = Array.from({ length: 6 }, () => login(username, 'slow wrong'));
    hold.resolve();
    await Promise.all(guesses);
    service.clock.advance(1_999); // six, not ten and not one
    expect(await login(username, password)).toMatchObject(refused);
    service.clock.advance(1);
    expect(await login(username, password)).toMatchObject({ status: 200 });
  });

  it('counts every concurrent failure if unlocking clears those of a day ago meanwhile', async () => {
    const { username, password } = await service.makeUser();
    for (let time = 0; time < 12; time++) {
      await fail(1, username);
      service.clock.advance(15 * 60_000);
    }
    service.clock.advance(24 * 3_600_000);
    const guesses = Array.from({ length: 6 }, () => login(username, 'slow wrong'));
    while (held < guesses.length) await new Promise(setImmediate);
    const { resolve } = hold;
    hold = Promise.withResolvers<void>();
    const right = login(username, `slow ${password}`);
    while (held <= guesses.length) await new Promise(setImmediate);
    await service.lockout.unlock(username);
    resolve();
    await Promise.all(guesses);
    hold.resolve();
    expect(await right).toMatchObject(refused);
    service.clock.advance(3_999); // seven: 4 s
    expect(await login(username, password)).toMatchObject(refused);
    service.clock.advance(1);
    expect(await login(username, password)).toMatchObject({ status: 200 });
  });

  // Bug: the lock was looked for where the totals that were read would have come to it.
  it.each([1, 7])(
    'refuses a success that was read after %d failures if unlocking and a lock came since',
    async before => {
      const { username, password } = await service.makeUser();
      for (let time = 0; time < before; time++) {
        await fail(1, username);
        service.clock.advance(15 * 60_000);
      }
      const right = login(username, `slow ${password}`);
      while (held < 1) await new Promise(setImmediate);
      await service.lockout.unlock(username);
      await fail(5, username);
      hold.resolve();
      expect(await right).toMatchObject(refused);
    },
  );

  it('counts a failure once that the SDK writes again because the answer got lost', async () => {
    const { user, username, password } = await service.makeUser();
    for (let time = 0; time < 4; time++) {
      service.database.repeatNext('UpdateItemCommand');
      expect(await login(username, 'wrong')).toMatchObject(refused);
    }
    const { key } = await service.lockout.keyOf(client.id, user.email);
    const { Item } = await service.database.dynamo(new GetCommand({ TableName: 'Lockouts', Key: key }));
    expect(Item).toMatchObject({ failures: 4, ttl: service.clock.now() / 1_000 + 24 * 3_600 });
    expect(await login(username, password)).toMatchObject({ status: 200 });
  });

  it('is ended by unlocking, for all clients', async () => {
    const { username, password } = await service.makeUser();
    const other = await service.makeClient();
    for (const from of [client, other]) await fail(5, username, from);
    await service.lockout.unlock(username);
    for (const from of [client, other]) expect(await login(username, password, from)).toMatchObject({ status: 200 });
  });

  // Bug: the second deletion found nothing, and the operator read that nothing had been counted.
  it('is ended by an unlocking that the SDK repeats, which says that there were failures', async () => {
    const { username, password } = await service.makeUser();
    expect(await service.lockout.unlock(username)).toBe(false);
    await fail(5, username);
    service.database.repeatNext('DeleteItemCommand');
    expect(await service.lockout.unlock(username)).toBe(true);
    expect(await login(username, password)).toMatchObject({ status: 200 });
  });

  it('accepts a success while other clients fail by the dozen', async () => {
    const { username, password } = await service.makeUser();
    const other = await service.makeClient();
    const right = login(username, `slow ${password}`);
    const wrong = Array.from({ length: 60 }, () => login(username, 'slow wrong', other));
    hold.resolve();
    await Promise.all(wrong);
    expect(await right).toMatchObject({ status: 200 });
  });

  it('keeps a burst through one client from locking the user for the others', async () => {
    const { username, password } = await service.makeUser();
    const other = await service.makeClient();
    await Promise.all(Array.from({ length: 64 }, () => login(username, 'wrong')));
    await login(username, 'wrong');
    expect(await login(username, password)).toMatchObject(refused);
    expect(await login(username, password, other)).toMatchObject({ status: 200 });
  });

  it('never makes valid logins of one user wait for each other', async () => {
    const { username, password } = await service.makeUser();
    const answers = await Promise.all(Array.from({ length: 20 }, () => login(username, password)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
