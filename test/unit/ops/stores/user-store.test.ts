import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CredentialStore, makeCredentialStore } from '../../../../lambdas/auth/principals/credential-store.ts';
import { type Credential, emailsOf, parseCredential, type User } from '../../../../lambdas/auth/principals/user.ts';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { makeUserStore, type UserStore } from '../../../../ops/stores/user-store.ts';
import { frozenClock } from '../../../support/clock.ts';
import { type Database, startDatabase } from '../../../support/database/database.ts';
import { quickHashing } from '../../../support/password-hashing.ts';

const clock = frozenClock();
const effects = { now: clock.now, makeId: randomId, hash: quickHashing.hash };
let database: Database;
let store: UserStore;
let credentials: CredentialStore;
const tables = { users: 'Users', credentials: 'Credentials' };
beforeAll(async () => {
  database = await startDatabase('Users', 'Credentials');
  credentials = makeCredentialStore({ dynamo: database.dynamo, table: 'Credentials', now: clock.now });
  store = makeUserStore({ dynamo: database.dynamo, tables, ...effects });
});
afterAll(() => database.stop());

/** The credential of an e-mail address. */
const credentialOf = async (email: string): Promise<Credential | undefined> =>
  parseCredential((await database.dynamo(new GetCommand({ TableName: 'Credentials', Key: { email } }))).Item);

/** A store that does something before each of its writes, which are counted from 1. */
const storeThat = (act: (write: number) => unknown): UserStore => {
  let writes = 0;
  const send = async (command: object) => {
    if (/^(Put|Update|Delete)/.test(command.constructor.name)) await act(++writes);
    return database.dynamo(command as never);
  };
  return makeUserStore({ dynamo: send as never, tables, ...effects });
};

/** A store whose process crashes at the n-th write. */
const crashingStore = (atWrite: number): UserStore =>
  storeThat(write => {
    if (write === atWrite) throw new Error('killed');
  });

/** A store whose machine sleeps for over a minute before its n-th write, and may be killed at a later one; `meanwhile` happens in its sleep. */
const sleepingStore = (atWrite: number, meanwhile: () => Promise<unknown>, killedAt?: number): UserStore =>
  storeThat(async write => {
    if (write === atWrite) {
      clock.advance(60_001);
      await meanwhile();
    }
    if (write === killedAt) throw new Error('killed');
  });

const describeUser = (email: string) => ({ email, password: 'secret', accountId: 'acme', role: 'admin' }) as const;

describe('users', () => {
  it('are found by id and by e-mail address, however it is typed', async () => {
    const user = await store.createUser(describeUser(' Jos\u0065\u0301@Example.COM '));
    expect(user).toMatchObject({
      email: 'jos\u00e9@example.com',
      role: 'admin',
      status: 'enabled',
      credentialVersion: 1,
    });
    expect(JSON.stringify(user)).not.toContain('argon2id');
    expect(await quickHashing.verify('secret', (await credentialOf(user.email))?.passwordHash ?? '')).toBe(true);
    expect(await store.findUser(user.userId)).toEqual(user);
    expect(await store.findUserByEmail('JOS\u00c9@example.com')).toEqual(user);
  });

  it('have an e-mail address of their own', async () => {
    await store.createUser(describeUser('one@example.com'));
    await expect(store.createUser(describeUser('ONE@example.com'))).rejects.toMatchObject({ name: 'EmailTakenError' });
  });

  it('are created once when created twice concurrently', async () => {
    const made = await Promise.allSettled([1, 2, 3].map(() => store.createUser(describeUser('race@example.com'))));
    const users = made.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []));
    expect(users).toHaveLength(1);
    expect(await store.findUserByEmail('race@example.com')).toEqual(users[0]);
  });

  it('are changed by writes that the SDK repeated after a lost answer', async () => {
    database.repeatNext('PutItemCommand');
    const { userId, email } = await store.createUser(describeUser('repeated@example.com'));
    const { passwordHash = '' } = (await credentialOf(email)) ?? {};
    database.repeatNext('UpdateItemCommand');
    expect(await credentials.replacePasswordHash(email, passwordHash, 'new')).toBe(true);
    database.repeatNext('UpdateItemCommand');
    expect(await store.setUserEmail(userId, 'changed@example.com')).toMatchObject({ email: 'changed@example.com' });
    database.repeatNext('DeleteItemCommand');
    expect(await credentials.deleteCredential('changed@example.com', userId)).toBe(true);
    await store.deleteUser(userId);
  });

  it('are created after an earlier attempt crashed', async () => {
    const Item = {
      email: 'dangling@example.com',
      userId: 'half',
      accountId: 'acme',
      passwordHash: 'earlier',
      credentialVersion: 1,
      createdAt: 0,
    };
    await database.dynamo(new PutCommand({ TableName: 'Credentials', Item }));
    expect(await store.findUserByEmail('dangling@example.com')).toBeUndefined();
    const user = await store.createUser(describeUser('dangling@example.com'));
    expect(user.userId).not.toBe('half');
    expect(await store.findUserByEmail('dangling@example.com')).toEqual(user);
    const { passwordHash = '' } = (await credentialOf('dangling@example.com')) ?? {};
    expect(await quickHashing.verify('secret', passwordHash)).toBe(true);
  });

  it('are listed by e-mail address', async () => {
    const emails = (await store.listUsers()).map(({ email }) => email);
    expect(emails).toEqual(['dangling@example.com', 'jos\u00e9@example.com', 'one@example.com', 'race@example.com']);
  });

  it('change status and role', async () => {
    const { userId } = await store.createUser(describeUser('change@example.com'));
    clock.advance(1_000);
    expect(await store.setUserStatus(userId, 'disabled')).toMatchObject({ status: 'disabled', updatedAt: clock.now() });
    expect(await store.setUserRole(userId, 'member')).toMatchObject({ role: 'member', credentialVersion: 1 });
  });
});

describe('a change that ends sessions', () => {
  it('increments the version, and no other change does', async () => {
    const { userId, version: first } = await store.createUser(describeUser('version@example.com'));
    const grown = async (change: Promise<User | undefined>) => ((await change)?.version ?? 0) - first;
    expect(await grown(store.setUserRole(userId, 'member'))).toBe(0);
    expect(await grown(store.setUserEmail(userId, 'version2@example.com'))).toBe(0);
    expect(await grown(store.setUserStatus(userId, 'enabled'))).toBe(0);
    expect(await grown(store.setUserStatus(userId, 'disabled'))).toBe(1);
    expect(await grown(store.setUserStatus(userId, 'enabled'))).toBe(1);
    expect(await grown(store.setUserPassword(userId, 'new'))).toBe(2);
    expect(await grown(store.endUserSessions(userId))).toBe(3);
  });
});

it.each(['nobody', '', 'x'.repeat(3_000)])('%s is the name of no user', async name => {
  expect(await store.findUser(name)).toBeUndefined();
  expect(await store.findUserByEmail(name)).toBeUndefined();
  expect(await store.setUserStatus(name, 'disabled')).toBeUndefined();
  expect(await store.setUserRole(name, 'member')).toBeUndefined();
  expect(await store.setUserPassword(name, 'new')).toBeUndefined();
  expect(await store.setUserEmail(name, 'nobody@example.com')).toBeUndefined();
  expect(await store.beginDeletion(name)).toBeUndefined();
  await store.deleteUser(name);
});

describe('a change of the e-mail address', () => {
  it('moves the credential, and frees the old address', async () => {
    const { userId, version } = await store.createUser(describeUser('old@example.com'));
    const before = await credentialOf('old@example.com');
    expect(await store.setUserEmail(userId, ' NEW@example.com')).toMatchObject({ email: 'new@example.com', version });
    expect(await credentialOf('old@example.com')).toBeUndefined();
    expect(await credentialOf('new@example.com')).toMatchObject({ userId, passwordHash: before?.passwordHash });
    expect(await store.findUserByEmail('old@example.com')).toBeUndefined();
    expect(await store.createUser(describeUser('old@example.com'))).toMatchObject({ email: 'old@example.com' });
  });

  it('to an address of somebody else is refused, and changes nothing', async () => {
    const one = await store.createUser(describeUser('first@example.com'));
    await store.createUser(describeUser('second@example.com'));
    clock.advance(3_600_000);
    await expect(store.setUserEmail(one.userId, 'second@example.com')).rejects.toMatchObject({
      name: 'EmailTakenError',
    });
    expect(await store.findUserByEmail('first@example.com')).toEqual(one);
  });

  it.each([1, 2, 3, 4, 5].flatMap(at => [[at, 'the same'] as const, [at, 'another'] as const]))(
    'that crashed at its write %i leaves one valid credential, also after a change to %s address',
    async (at, which) => {
      const [from, to, other] = [
        `from-${which}${at}@example.com`,
        `to-${which}${at}@example.com`,
        `or${at}@example.com`,
      ];
      const { userId } = await store.createUser(describeUser(from));
      await expect(crashingStore(at).setUserEmail(userId, to)).rejects.toThrow('killed');
      const opened = await Promise.all([from, to].map(email => store.findUserByEmail(email)));
      expect(opened.filter(user => user !== undefined)).toHaveLength(1);
      const last = which === 'the same' ? to : other;
      expect(await store.setUserEmail(userId, last)).toMatchObject({ email: last });
      for (const email of [from, to]) if (email !== last) expect(await credentialOf(email)).toBeUndefined();
      expect(await store.findUserByEmail(last)).toMatchObject({ userId });
      const user = await store.findUser(userId);
      expect(user && emailsOf(user)).toEqual([last]);
    },
  );

  it('that crashed and is not repeated frees its new address after a minute', async () => {
    const { userId } = await store.createUser(describeUser('kept@example.com'));
    await expect(crashingStore(3).setUserEmail(userId, 'left@example.com')).rejects.toThrow('killed');
    await expect(store.createUser(describeUser('left@example.com'))).rejects.toMatchObject({ name: 'EmailTakenError' });
    clock.advance(60_001);
    const other = await store.createUser(describeUser('left@example.com'));
    expect(other.userId).not.toBe(userId);
    expect(await store.findUserByEmail('left@example.com')).toEqual(other);
    expect(await store.findUserByEmail('kept@example.com')).toMatchObject({ userId });
  });

  it('is refused, and writes nothing, where a new password crashed half-way, and where others go on being set', async () => {
    const { userId } = await store.createUser(describeUser('halfway@example.com'));
    await expect(crashingStore(2).setUserPassword(userId, 'new')).rejects.toThrow('killed');
    const refused = { name: 'PasswordHalfSetError' };
    await expect(store.setUserEmail(userId, 'set@example.com')).rejects.toMatchObject(refused);
    expect([await credentialOf('set@example.com'), (await store.findUser(userId))?.claimedEmail]).toEqual([
      undefined,
      undefined,
    ]);
    await store.setUserPassword(userId, 'new');
    const busy = storeThat(async () => void (await store.setUserPassword(userId, 'newer')));
    await expect(busy.setUserEmail(userId, 'set@example.com')).rejects.toMatchObject({ name: 'UserChangedError' });
    expect(await store.setUserEmail(userId, 'set@example.com')).toMatchObject({ email: 'set@example.com' });
  });

  it('that is concurrent with a new password keeps that password', async () => {
    const { userId } = await store.createUser(describeUser('both@example.com'));
    const [moved] = await Promise.all([
      store.setUserEmail(userId, 'moved@example.com').catch(error => error),
      store.setUserPassword(userId, 'changed'),
    ]);
    const user = await store.findUser(userId);
    expect(moved).toMatchObject(
      user?.email === 'both@example.com' ? { name: 'PasswordHalfSetError' } : { email: 'moved@example.com' },
    );
    const credential = await credentialOf(user?.email ?? '');
    expect([user?.credentialVersion, credential?.credentialVersion]).toEqual([2, 2]);
    expect(await quickHashing.verify('changed', credential?.passwordHash ?? '')).toBe(true);
  });
});

describe('of two users with one address', () => {
  const taken = { name: 'EmailTakenError' };
  const withAddress = async (email: string) => (await store.listUsers()).filter(user => user.email === email);

  it('the one whose creation slept gives up, and leaves nothing', async () => {
    const email = 'slept@example.com';
    const slow = sleepingStore(2, () => store.createUser(describeUser(email)));
    await expect(slow.createUser({ ...describeUser(email), accountId: 'slow' })).rejects.toMatchObject(taken);
    expect(await withAddress(email)).toMatchObject([{ accountId: 'acme' }]);
    expect(await store.findUserByEmail(email)).toMatchObject({ accountId: 'acme' });
  });

  it.each([
    ['taken', 'other'],
    ['existing', 'acme'],
  ])('the one whose import slept is %s', async (outcome, accountId) => {
    const email = `${outcome}@example.com`;
    const user = { email, accountId: 'acme', role: 'admin', passwordHash: '$2b$10$any' } as const;
    const slow = sleepingStore(2, () => store.createUser({ ...describeUser(email), accountId }));
    expect(await slow.importUser(user)).toBe('being_made'); // the importer asks again
    expect(await slow.importUser(user)).toBe(outcome);
    expect(await withAddress(email)).toHaveLength(1);
  });

  it('the one whose change of address slept keeps the address that it had', async () => {
    const { userId } = await store.createUser(describeUser('before@example.com'));
    const slow = sleepingStore(3, () => store.createUser(describeUser('after@example.com')));
    await expect(slow.setUserEmail(userId, 'after@example.com')).rejects.toMatchObject(taken);
    expect(await store.findUserByEmail('before@example.com')).toMatchObject({ userId });
    expect(await store.findUser(userId)).not.toHaveProperty('formerEmail');
    expect(await withAddress('after@example.com')).toHaveLength(1);
    expect(await store.setUserEmail(userId, 'elsewhere@example.com')).toMatchObject({ email: 'elsewhere@example.com' });
  });

  it('the one whose change slept and was killed then keeps its address too, when it is repeated', async () => {
    const { userId } = await store.createUser(describeUser('was@example.com'));
    const slow = sleepingStore(3, () => store.createUser(describeUser('wanted@example.com')), 4);
    await expect(slow.setUserEmail(userId, 'wanted@example.com')).rejects.toThrow('killed');
    expect(await store.findUser(userId)).toMatchObject({ email: 'wanted@example.com', formerEmail: 'was@example.com' });
    await expect(store.setUserEmail(userId, 'wanted@example.com')).rejects.toMatchObject(taken);
    expect(await store.findUserByEmail('was@example.com')).toMatchObject({ userId });
    expect(await credentialOf('was@example.com')).toMatchObject({ userId });
  });

  it('the one that takes a claim over gives it back where its user got the address in that moment', async () => {
    const email = 'woke@example.com';
    let wake = () => {};
    const woken = new Promise<void>(resolve => {
      wake = resolve;
    });
    let first: Promise<User> | undefined;
    // the second takes the claim over (its second write) just after the first has written its user and looked
    const second = sleepingStore(2, async () => {
      wake();
      await first;
    });
    first = sleepingStore(2, () => woken).createUser(describeUser(email));
    while (!(await credentialOf(email))) await new Promise(setImmediate);
    clock.advance(60_001);
    await expect(second.createUser({ ...describeUser(email), accountId: 'second' })).rejects.toMatchObject(taken);
    expect(await store.findUserByEmail(email)).toEqual(await first);
    expect(await withAddress(email)).toHaveLength(1);
  });
});

describe('a user whose deletion began', () => {
  const marked = async (email: string) => {
    const { userId } = await store.createUser(describeUser(email));
    return { userId, user: await store.beginDeletion(userId) };
  };

  it('is disabled for good, and every session has ended', async () => {
    const { userId, user } = await marked('marked@example.com');
    expect(user).toMatchObject({ status: 'deleting', version: 2 });
    expect(await store.findUser(userId)).toEqual(user);
    expect((await store.listUsers({ account: 'acme' })).find(found => found.userId === userId)?.status).toBe(
      'deleting',
    );
    expect(await store.beginDeletion(userId)).toEqual(user);
  });

  it('is changed no more', async () => {
    const { userId } = await marked('unchanged@example.com');
    const refused = { name: 'UserBeingDeletedError' };
    await expect(store.setUserStatus(userId, 'enabled')).rejects.toMatchObject(refused);
    await expect(store.setUserStatus(userId, 'disabled')).rejects.toMatchObject(refused);
    await expect(store.setUserRole(userId, 'member')).rejects.toMatchObject(refused);
    await expect(store.setUserPassword(userId, 'new')).rejects.toMatchObject(refused);
    await expect(store.endUserSessions(userId)).rejects.toMatchObject(refused);
    await expect(store.setUserEmail(userId, 'marked-elsewhere@example.com')).rejects.toMatchObject(refused);
    expect(await credentialOf('marked-elsewhere@example.com')).toBeUndefined();
  });

  it.each([2, 3, 4])('while their address changes keeps no credential: the mark comes before write %i', async at => {
    const [from, to] = [`from-marked${at}@example.com`, `to-marked${at}@example.com`];
    const { userId } = await store.createUser(describeUser(from));
    const other = storeThat(async write => {
      if (write !== at) return;
      const { email = '', formerEmail, claimedEmail } = (await store.beginDeletion(userId)) ?? {};
      for (const address of [email, formerEmail, claimedEmail]) if (address) await store.releaseEmail(userId, address);
      await store.deleteUser(userId);
    });
    expect(await other.setUserEmail(userId, to)).toBeUndefined();
    expect(await Promise.all([from, to].map(credentialOf))).toEqual([undefined, undefined]);
    expect(await store.findUser(userId)).toBeUndefined();
  });
});

describe('addresses that were claimed for users who were never made', () => {
  it('are released by account, and no other', async () => {
    const of = (email: string, accountId: string) => ({ ...describeUser(email), accountId });
    await expect(crashingStore(2).createUser(of('half@example.com', 'claims'))).rejects.toThrow('killed');
    await expect(crashingStore(2).createUser(of('neighbour@example.com', 'elsewhere'))).rejects.toThrow('killed');
    await store.createUser(of('whole@example.com', 'claims'));
    clock.advance(60_000);
    const taken = await store.createUser(of('neighbour@example.com', 'next'));
    await store.releaseClaims('claims');
    await store.releaseClaims('elsewhere');
    expect(await credentialOf('half@example.com')).toBeUndefined();
    expect(await store.findUserByEmail('whole@example.com')).toMatchObject({ accountId: 'claims' });
    expect(await store.findUserByEmail('neighbour@example.com')).toEqual(taken);
  });
});

describe('a deletion', () => {
  it('leaves neither user nor hash, and frees the e-mail address', async () => {
    const { userId } = await store.createUser(describeUser('gone@example.com'));
    await store.releaseEmail(userId, 'gone@example.com');
    expect(await credentialOf('gone@example.com')).toBeDefined(); // the user still exists
    await store.deleteUser(userId);
    expect(await store.findUserByEmail('gone@example.com')).toBeUndefined();
    expect(await store.findOwner('GONE@example.com')).toBe(userId); // for a repetition after a crash at this point
    await store.releaseEmail(userId, 'gone@example.com');
    expect(await credentialOf('gone@example.com')).toBeUndefined();
  });

  it('that crashed leaves nothing of the user to the next one with the address', async () => {
    const first = await store.createUser(describeUser('again@example.com'));
    await store.deleteUser(first.userId);
    clock.advance(60_000);
    const second = await store.createUser({ ...describeUser('again@example.com'), password: 'another' });
    expect(second.userId).not.toBe(first.userId);
    expect(await quickHashing.verify('another', (await credentialOf('again@example.com'))?.passwordHash ?? '')).toBe(
      true,
    );
  });
});

describe('passwords', () => {
  it('increment the version of the credential with each change', async () => {
    const { userId, email } = await store.createUser(describeUser('password@example.com'));
    expect(await store.setUserPassword(userId, 'new')).toMatchObject({ credentialVersion: 2 });
    const credential = await credentialOf(email);
    expect(credential?.credentialVersion).toBe(2);
    expect(await quickHashing.verify('new', credential?.passwordHash ?? '')).toBe(true);
  });

  it('cannot be set where the credential is gone, or is another user’s', async () => {
    const gone = await store.createUser(describeUser('login-gone@example.com'));
    const key = { TableName: 'Credentials', Key: { email: gone.email } };
    await database.dynamo(new DeleteCommand(key));
    await expect(store.setUserPassword(gone.userId, 'new')).rejects.toMatchObject({ name: 'LoginGoneError' });
    const Item = {
      email: gone.email,
      userId: 'somebody',
      accountId: 'acme',
      passwordHash: 'theirs',
      credentialVersion: 1,
      createdAt: 0,
    };
    await database.dynamo(new PutCommand({ TableName: 'Credentials', Item }));
    await expect(store.setUserPassword(gone.userId, 'new')).rejects.toMatchObject({ name: 'LoginGoneError' });
    await expect(store.setUserEmail(gone.userId, 'x@example.com')).rejects.toMatchObject({ name: 'LoginGoneError' });
    expect(await credentialOf(gone.email)).toMatchObject({ passwordHash: 'theirs' });
  });

  it('are rehashed only if they have not changed meanwhile', async () => {
    const { email } = await store.createUser(describeUser('rehash@example.com'));
    const { passwordHash = '' } = (await credentialOf(email)) ?? {};
    expect(await credentials.replacePasswordHash(email, 'another', 'lost')).toBe(false);
    expect(await credentialOf(email)).toMatchObject({ passwordHash });
    expect(await credentials.replacePasswordHash(email, passwordHash, 'better')).toBe(true);
    expect(await credentialOf(email)).toMatchObject({ passwordHash: 'better', credentialVersion: 1 });
  });

  // Bug: each of them was told that theirs was set, and all but one had a password that was never in force.
  it('that are set concurrently leave one valid password, with the latest version, and only who set it hears so', async () => {
    const { userId, email } = await store.createUser(describeUser('twice@example.com'));
    const passwords = ['one', 'two', 'three'];
    const all = Promise.withResolvers<void>();
    let changed = 0;
    const meeting = () =>
      storeThat(async write => {
        if (write < 2) return;
        if (++changed === passwords.length) all.resolve(); // each has changed the user, and none the credential
        await all.promise;
      });
    const ends = await Promise.allSettled(passwords.map(password => meeting().setUserPassword(userId, password)));
    expect(await store.findUser(userId)).toMatchObject({ credentialVersion: 4 });
    const { passwordHash = '', ...credential } = (await credentialOf(email)) ?? {};
    expect(credential).toMatchObject({ credentialVersion: 4 });
    const inForce = await Promise.all(passwords.map(password => quickHashing.verify(password, passwordHash)));
    expect(ends.map(({ status }) => status === 'fulfilled')).toEqual(inForce);
    for (const end of ends) {
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ name: 'PasswordOvertakenError' });
    }
  });

  it('are invalid after a change that crashed, until they are set again', async () => {
    const { userId, email } = await store.createUser(describeUser('died@example.com'));
    await expect(crashingStore(2).setUserPassword(userId, 'new')).rejects.toThrow('killed');
    expect((await credentialOf(email))?.credentialVersion).not.toBe((await store.findUser(userId))?.credentialVersion);
    await store.setUserPassword(userId, 'again');
    expect((await credentialOf(email))?.credentialVersion).toBe((await store.findUser(userId))?.credentialVersion);
  });
});
