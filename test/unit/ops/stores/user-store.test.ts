import { DeleteCommand, GetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { makeTables, type Tables } from '@emissor/cloud/dynamodb/tables';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Credential, parseCredential, parseUser, type User } from '../../../../lambdas/auth/principals/user.ts';
import type { Dynamo } from '../../../../lambdas/platform/aws/dynamo.ts';
import { randomId } from '../../../../lambdas/platform/identifiers.ts';
import { makeUserStore, type UserStore } from '../../../../ops/stores/user-store.ts';
import { tableDefinition } from '../../../../tools/support/tables.ts';
import { frozenClock } from '../../../support/clock.ts';
import { quickHashing } from '../../../support/password-hashing.ts';

const clock = frozenClock();
let database: Tables;
let store: UserStore;
beforeEach(() => {
  const definitions = (['Users', 'Credentials'] as const).map(name => ({ TableName: name, ...tableDefinition(name) }));
  database = makeTables({ definitions, now: clock.now });
  store = storeOver(execute);
});

const execute: Dynamo = async command => database.execute(command as never);
const storeOver = (dynamo: Dynamo) =>
  makeUserStore({
    dynamo,
    tables: { users: 'Users', credentials: 'Credentials' },
    now: clock.now,
    makeId: randomId,
    hash: quickHashing.hash,
  });

/** Creates a store that does something once, before its n-th call. */
const storeThat = (act: () => Promise<unknown>, atCall: number): UserStore => {
  let calls = 0;
  return storeOver(async command => {
    calls += 1;
    if (calls === atCall) await act();
    return execute(command);
  });
};

const credentialOf = async (email: string): Promise<Credential | undefined> =>
  parseCredential((await execute(new GetCommand({ TableName: 'Credentials', Key: { email } }))).Item);
const isPassword = async (email: string, password: string) =>
  quickHashing.verify(password, (await credentialOf(email))?.passwordHash ?? '');
const describeUser = (email: string) => ({ email, password: 'secret', accountId: 'acme', role: 'admin' }) as const;
const taken = (email: string) =>
  `A user with the e-mail address ${email} exists already. "users show ${email}" shows them.`;
const changed = 'Another command changed the user at the same moment. Run the command again.';

/** Checks that each user has one credential, and each credential one user. */
const expectPairs = async () => {
  const all = async (TableName: string) => (await execute(new ScanCommand({ TableName }))).Items ?? [];
  const pairs = (items: readonly (User | Credential | undefined)[]) =>
    items.map(item => `${item?.userId} ${item?.email} ${item?.credentialVersion}`).sort();
  const users = pairs((await all('Users')).map(parseUser));
  expect(pairs((await all('Credentials')).map(parseCredential))).toEqual(users);
};

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
    expect(await isPassword(user.email, 'secret')).toBe(true);
    expect(await store.findUser(user.userId)).toEqual(user);
    expect(await store.findUserByEmail('JOS\u00c9@example.com')).toEqual(user);
  });

  it('have an e-mail address of their own', async () => {
    await store.createUser(describeUser('one@example.com'));
    await expect(store.createUser(describeUser('ONE@example.com'))).rejects.toThrow(taken('one@example.com'));
    await expectPairs();
  });

  it('are created once when created concurrently', async () => {
    const created = await Promise.allSettled([1, 2, 3].map(() => store.createUser(describeUser('race@example.com'))));
    const users = created.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []));
    expect(users).toHaveLength(1);
    expect(await store.findUserByEmail('race@example.com')).toEqual(users[0]);
    await expectPairs();
  });

  it('are imported once when imported concurrently', async () => {
    const { password: _, ...user } = describeUser('imported@example.com');
    const imported = { ...user, passwordHash: '$2b$10$any' };
    const other = storeThat(() => store.importUser({ ...imported, accountId: 'other' }), 2); // after it found nobody
    expect(await other.importUser(imported)).toBe('taken');
    expect(await store.importUser({ ...imported, accountId: 'other' })).toBe('existing');
    await expectPairs();
  });

  it('are listed by e-mail address', async () => {
    for (const name of ['b', 'a', 'c']) await store.createUser(describeUser(`${name}@example.com`));
    expect((await store.listUsers()).map(({ email }) => email[0])).toEqual(['a', 'b', 'c']);
  });

  it('change status and role', async () => {
    const { userId } = await store.createUser(describeUser('change@example.com'));
    clock.advance(1_000);
    expect(await store.setUserStatus(userId, 'disabled')).toMatchObject({ status: 'disabled', updatedAt: clock.now() });
    expect(await store.setUserRole(userId, 'member')).toMatchObject({ role: 'member', credentialVersion: 1 });
  });

  // The SDK repeats a call whose answer was lost. The token makes it one transaction.
  it('are changed once by a transaction that the SDK repeats', async () => {
    const repeating = storeOver(async command => {
      await execute(command);
      return execute(command);
    });
    const { userId } = await repeating.createUser(describeUser('repeated@example.com'));
    expect(await repeating.setUserEmail(userId, 'moved@example.com')).toMatchObject({ email: 'moved@example.com' });
    expect(await repeating.setUserPassword(userId, 'new')).toMatchObject({ credentialVersion: 2 });
    const user = await store.setUserStatus(userId, 'disabled');
    await expectPairs();
    if (user) await repeating.deleteUser(user);
    expect(await store.listUsers()).toEqual([]);
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
});

describe('a change of the e-mail address', () => {
  it('moves the credential, and frees the old address', async () => {
    const { userId, version } = await store.createUser(describeUser('old@example.com'));
    const before = await credentialOf('old@example.com');
    expect(await store.setUserEmail(userId, ' NEW@example.com')).toMatchObject({ email: 'new@example.com', version });
    expect(await store.findUser(userId)).toMatchObject({ email: 'new@example.com' });
    expect(await credentialOf('new@example.com')).toMatchObject({ userId, passwordHash: before?.passwordHash });
    expect(await store.findUserByEmail('old@example.com')).toBeUndefined();
    expect(await store.createUser(describeUser('old@example.com'))).toMatchObject({ email: 'old@example.com' });
    await expectPairs();
  });

  it('to an address of another user is refused, and changes nothing', async () => {
    const one = await store.createUser(describeUser('first@example.com'));
    await store.createUser(describeUser('second@example.com'));
    const moved = store.setUserEmail(one.userId, 'second@example.com');
    await expect(moved).rejects.toThrow(taken('second@example.com'));
    expect(await store.findUserByEmail('first@example.com')).toEqual(one);
    await expectPairs();
  });
});

// A5: an address with its hash was orphaned, or the change was refused after it claimed the new address.
describe('two commands on one user at the same moment', () => {
  const others = {
    'set-email': userId => store.setUserEmail(userId, 'other@example.com'),
    'set-password': userId => store.setUserPassword(userId, 'other'),
    disable: userId => store.setUserStatus(userId, 'disabled'),
    'set-role': userId => store.setUserRole(userId, 'member'),
    delete: async userId => {
      const user = await store.setUserStatus(userId, 'disabled');
      return user && store.deleteUser(user);
    },
    'create with the wanted address': () => store.createUser(describeUser('wanted@example.com')),
  } satisfies Record<string, (userId: string) => Promise<unknown>>;
  const names = Object.keys(others) as (keyof typeof others)[];
  const commands = {
    'set-email': (slow: UserStore, { userId }: User) => slow.setUserEmail(userId, 'wanted@example.com'),
    'set-password': (slow: UserStore, { userId }: User) => slow.setUserPassword(userId, 'wanted'),
    delete: async (slow: UserStore, { userId }: User) => {
      const user = await slow.setUserStatus(userId, 'disabled');
      return user && slow.deleteUser(user);
    },
  };
  const cases = Object.entries(commands).flatMap(([command, run]) =>
    names.flatMap(other => [1, 2, 3].map(atCall => ({ command, run, other, atCall }))),
  );

  it.each(cases)('leave one credential to each user: $command, and $other before its call $atCall', async parts => {
    const user = await store.createUser(describeUser('first@example.com'));
    const slow = storeThat(() => others[parts.other](user.userId), parts.atCall);
    const problem = await parts.run(slow, user).then(
      () => undefined,
      error => error,
    );
    await expectPairs();
    if (problem === undefined) return;
    expect([changed, taken('wanted@example.com')]).toContain(problem.message);
    const again = parts.run(store, user);
    if (problem.message === changed) await again;
    else await expect(again).rejects.toThrow(problem.message);
    await expectPairs();
  });
});

describe('a deletion', () => {
  const create = async (email: string) => {
    const { userId } = await store.createUser(describeUser(email));
    const user = await store.setUserStatus(userId, 'disabled');
    if (!user) throw new Error('There is no user.');
    return user;
  };

  it('leaves neither user nor hash, and frees the e-mail address', async () => {
    await store.deleteUser(await create('gone@example.com'));
    expect([await credentialOf('gone@example.com'), await store.listUsers()]).toEqual([undefined, []]);
    const next = await store.createUser({ ...describeUser('gone@example.com'), password: 'another' });
    expect(await store.findUserByEmail('gone@example.com')).toEqual(next);
    expect(await isPassword('gone@example.com', 'another')).toBe(true);
  });

  it('is refused once somebody enabled the user again', async () => {
    const user = await create('kept@example.com');
    await store.setUserStatus(user.userId, 'enabled');
    await expect(store.deleteUser(user)).rejects.toThrow(changed);
    await expectPairs();
  });

  it('removes a user whose credential a restored table lacks, or gave to another user', async () => {
    const lost = await create('lost@example.com');
    await execute(new DeleteCommand({ TableName: 'Credentials', Key: { email: lost.email } }));
    await expect(store.setUserEmail(lost.userId, 'elsewhere@example.com')).rejects.toThrow(changed);
    const next = await store.createUser(describeUser(lost.email));
    await expect(store.setUserPassword(lost.userId, 'new')).rejects.toThrow(changed);
    await store.deleteUser(lost);
    expect(await store.listUsers()).toEqual([next]);
    await expectPairs();
  });
});

describe('passwords', () => {
  it('increment the version of user and credential with each change', async () => {
    const { userId, email } = await store.createUser(describeUser('password@example.com'));
    const changed = await store.setUserPassword(userId, 'new');
    expect(changed).toMatchObject({ credentialVersion: 2, version: 2 });
    expect(await store.findUser(userId)).toEqual(changed);
    expect((await credentialOf(email))?.credentialVersion).toBe(2);
    expect(await isPassword(email, 'new')).toBe(true);
  });

  // Bug: each of them was told that theirs was set, and all but one had a password that was never in force.
  it('that are set concurrently leave one valid password, and only the operator who set it is told so', async () => {
    const { userId, email } = await store.createUser(describeUser('twice@example.com'));
    const passwords = ['one', 'two', 'three'];
    const ends = await Promise.allSettled(passwords.map(password => store.setUserPassword(userId, password)));
    const inForce = await Promise.all(passwords.map(password => isPassword(email, password)));
    expect(ends.map(({ status }) => status === 'fulfilled')).toEqual(inForce);
    await expectPairs();
  });
});
