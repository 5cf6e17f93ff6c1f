import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyPassword } from '../../../lambdas/auth/password-hash.ts';
import { type Login, parseLogin } from '../../../lambdas/auth/user.ts';
import { makeUserStore, type UserStore } from '../../../lambdas/auth/user-store.ts';
import { randomId } from '../../../lambdas/platform/identifiers.ts';
import { frozenClock } from '../../support/clock.ts';
import { type Dynalite, startDynalite } from '../../support/dynalite.ts';

const clock = frozenClock();
let dynalite: Dynalite;
let store: UserStore;
beforeAll(async () => {
  dynalite = await startDynalite('Users', 'Logins');
  const tables = { users: 'Users', logins: 'Logins' };
  store = makeUserStore({ documents: dynalite.documents, tables, now: clock.now, makeId: randomId });
});
afterAll(() => dynalite.stop());

/** What a user would log in with. */
const loginOf = async (email: string): Promise<Login | undefined> =>
  parseLogin((await dynalite.documents.send(new GetCommand({ TableName: 'Logins', Key: { email } }))).Item);

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
    expect(JSON.stringify(user)).not.toContain('argon2id');
    expect(await verifyPassword('secret', (await loginOf(user.email))?.passwordHash ?? '')).toBe(true);
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
    const Item = { email: 'dangling@example.com', userId: 'half', passwordHash: 'earlier', credentialVersion: 1 };
    await dynalite.documents.send(new PutCommand({ TableName: 'Logins', Item }));
    expect(await store.findUserByEmail('dangling@example.com')).toBeUndefined();
    expect(await store.createUser(describeUser('dangling@example.com'))).toMatchObject({ userId: 'half' });
    const { passwordHash = '' } = (await loginOf('dangling@example.com')) ?? {};
    expect(await verifyPassword('secret', passwordHash)).toBe(true);
  });

  it('are listed by address', async () => {
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
    const { userId, email } = await store.createUser(describeUser('password@example.com'));
    expect(await store.setUserPassword(userId, 'new')).toMatchObject({ credentialVersion: 2 });
    const login = await loginOf(email);
    expect(login?.credentialVersion).toBe(2);
    expect(await verifyPassword('new', login?.passwordHash ?? '')).toBe(true);
    expect(await store.setUserPassword('nobody', 'new')).toBeUndefined();
  });

  it('are hashed anew only while they are the same', async () => {
    const { email } = await store.createUser(describeUser('rehash@example.com'));
    const { passwordHash = '' } = (await loginOf(email)) ?? {};
    await store.replacePasswordHash(email, 'another', 'lost');
    expect(await loginOf(email)).toMatchObject({ passwordHash });
    await store.replacePasswordHash(email, passwordHash, 'better');
    expect(await loginOf(email)).toMatchObject({ passwordHash: 'better', credentialVersion: 1 });
  });

  it('set twice at once leave one that fits, under the latest version', async () => {
    const { userId, email } = await store.createUser(describeUser('twice@example.com'));
    await Promise.all(['one', 'two', 'three'].map(password => store.setUserPassword(userId, password)));
    expect(await store.findUser(userId)).toMatchObject({ credentialVersion: 4 });
    expect(await loginOf(email)).toMatchObject({ credentialVersion: 4 });
  });

  it('fit no more when the change died half-way, until they are set again', async () => {
    const dying: typeof dynalite.documents.send = (command: object) =>
      JSON.stringify(command).includes('passwordHash = :hash')
        ? Promise.reject(new Error('killed'))
        : dynalite.documents.send(command as never);
    const common = { tables: { users: 'Users', logins: 'Logins' }, now: clock.now, makeId: randomId };
    const { userId, email } = await store.createUser(describeUser('died@example.com'));
    await expect(
      makeUserStore({ ...common, documents: { send: dying } as never }).setUserPassword(userId, 'new'),
    ).rejects.toThrow('killed');
    expect((await loginOf(email))?.credentialVersion).not.toBe((await store.findUser(userId))?.credentialVersion);
    await store.setUserPassword(userId, 'again');
    expect((await loginOf(email))?.credentialVersion).toBe((await store.findUser(userId))?.credentialVersion);
  });
});
