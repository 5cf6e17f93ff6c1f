import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyPassword } from '../../../lambdas/auth/password-hash.ts';
import { makeUserStore, type UserStore } from '../../../lambdas/auth/user-store.ts';
import { randomId } from '../../../lambdas/platform/identifiers.ts';
import { frozenClock } from '../../support/clock.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';

const clock = frozenClock();
let dynalite: Dynalite;
let store: UserStore;
beforeAll(async () => {
  dynalite = await startDynalite('Users');
  store = makeUserStore({ documents: dynalite.documents, tableName: 'Users', now: clock.now, makeId: randomId });
});
afterAll(() => dynalite.stop());

const describeUser = (email: string) => ({ email, password: 'secret', accountId: 'acme', role: 'admin' }) as const;

describe('users', () => {
  it('are found by id and by address, however it is typed', async () => {
    const user = await store.createUser(describeUser(' Jos\u0065\u0301@Example.COM '));
    expect(user).toMatchObject({
      email: 'jos\u00e9@example.com',
      role: 'admin',
      status: 'enabled',
      credentialVersion: 1,
    });
    expect(JSON.stringify(user)).not.toContain('secret');
    expect(await store.findUser(user.userId)).toEqual(user);
    expect(await store.findUserByEmail('JOS\u00c9@example.com')).toEqual(user);
    expect(await store.findUser('nobody')).toBeUndefined();
    expect(await store.findUserByEmail('nobody@example.com')).toBeUndefined();
  });

  it('have an address of their own', async () => {
    await store.createUser(describeUser('one@example.com'));
    await expect(store.createUser(describeUser('ONE@example.com'))).rejects.toMatchObject({ name: 'EmailTakenError' });
  });

  it('are made once when made twice at once', async () => {
    const made = await Promise.allSettled([1, 2, 3].map(() => store.createUser(describeUser('race@example.com'))));
    const users = made.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []));
    expect(users).toHaveLength(1);
    expect(await store.findUserByEmail('race@example.com')).toEqual(users[0]);
  });

  it('are made where an earlier attempt died half-way', async () => {
    const Item = { pk: 'email#dangling@example.com', userId: 'half' };
    await dynalite.documents.send(new PutCommand({ TableName: 'Users', Item }));
    expect(await store.findUserByEmail('dangling@example.com')).toBeUndefined();
    expect(await store.createUser(describeUser('dangling@example.com'))).toMatchObject({ userId: 'half' });
  });

  it('are listed by address, without the pointers', async () => {
    const emails = (await store.listUsers()).map(({ email }) => email);
    expect(emails).toEqual(['dangling@example.com', 'jos\u00e9@example.com', 'one@example.com', 'race@example.com']);
  });

  it('change status and role', async () => {
    const { userId } = await store.createUser(describeUser('change@example.com'));
    clock.advance(1_000);
    expect(await store.setUserStatus(userId, 'disabled')).toMatchObject({ status: 'disabled', updatedAt: clock.now() });
    expect(await store.setUserRole(userId, 'member')).toMatchObject({ role: 'member', credentialVersion: 1 });
    expect(await store.setUserStatus('nobody', 'disabled')).toBeUndefined();
    expect(await store.setUserRole('nobody', 'member')).toBeUndefined();
  });
});

describe('passwords', () => {
  it('grow a version with each change', async () => {
    const { userId } = await store.createUser(describeUser('password@example.com'));
    const changed = await store.setUserPassword(userId, 'new');
    expect(changed?.credentialVersion).toBe(2);
    expect(await verifyPassword('new', changed?.passwordHash ?? '')).toBe(true);
    expect(await store.setUserPassword('nobody', 'new')).toBeUndefined();
  });

  it('are hashed anew only while they are the same', async () => {
    const { userId, passwordHash } = await store.createUser(describeUser('rehash@example.com'));
    await store.replacePasswordHash(userId, 'another', 'lost');
    expect((await store.findUser(userId))?.passwordHash).toBe(passwordHash);
    await store.replacePasswordHash(userId, passwordHash, 'better');
    expect(await store.findUser(userId)).toMatchObject({ passwordHash: 'better', credentialVersion: 1 });
  });
});
