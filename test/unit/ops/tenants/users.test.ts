import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, describe, expect, it } from 'vitest';
import { parseCredential, parseUser, type User } from '../../../../lambdas/auth/principals/user.ts';
import { parseFailures } from '../../../../lambdas/auth/protection/lockout-rule.ts';
import { fail, startOperatedTables } from '../../../support/operated-tables.ts';
import { quickHashing } from '../../../support/password-hashing.ts';

// A user has one credential, with their e-mail address as its key. `disable`, `delete` and `set-password` end their sessions.

const operated = await startOperatedTables();
afterAll(() => operated.stop());

const { json, run, createUser, under } = operated;
const stored = async (userId: string) => parseUser(await operated.item('Users', { userId }));
const credentialOf = async (email: string) => parseCredential(await operated.item('Credentials', { email }));
const isPassword = async (email: string, password: string) =>
  quickHashing.verify(password, (await credentialOf(email))?.passwordHash ?? '');
const newAddress = (() => {
  let number = 0;
  return () => `user${++number}@example.com`;
})();
const addSession = (userId: string) =>
  operated.put('Sessions', { userId, sessionId: `${userId}-1`, clientId: 'client' });
const addressTaken = (email: string) =>
  `A user with the e-mail address ${email} already exists. "users show ${email}" shows it.`;
const changed = 'Another command changed the user at the same time. Run the command again.';

/** Checks that each user has one credential, and each credential has one user. */
const expectPairs = async () => {
  const pairs = (items: readonly (Pick<User, 'userId' | 'email' | 'credentialVersion'> | undefined)[]) =>
    items.map(item => `${item?.userId} ${item?.email} ${item?.credentialVersion}`).sort();
  const users = pairs((await operated.items('Users')).map(parseUser));
  expect(pairs((await operated.items('Credentials')).map(parseCredential))).toEqual(users);
};

describe('ops users create', () => {
  const words = (email: string, ...more: string[]) =>
    ['users', 'create', '--email', email, '--account', 'acme', '--role', 'admin', ...more] as const;

  it('stores the normalised address and the exact password', async () => {
    const input = '  Senha 7f3a, ção  \n';
    const created = await under({ input }).json(...words(' Jos\u0065\u0301@Example.COM '));
    const expected = { email: 'jos\u00e9@example.com', accountId: 'acme', role: 'admin', status: 'enabled' };
    const dates = { createdAt: expect.any(String), updatedAt: expect.any(String) };
    expect(created).toEqual({ userId: expect.stringMatching(/^\w{22}$/), ...expected, ...dates });
    expect(await json('users', 'show', 'JOS\u00c9@example.com')).toEqual({ ...created, failedLogins: [] });
    expect(await isPassword(expected.email, input.slice(0, -1))).toBe(true);
    expect(await isPassword(expected.email, input.trim())).toBe(false);
    expect(JSON.stringify([created, await run('users list')])).not.toMatch(/argon2|Senha/);
  });

  it('rejects an existing address in any spelling, and creates only one user in concurrent runs', async () => {
    const email = newAddress();
    const created = await Promise.all([1, 2, 3].map(() => run(...words(email))));
    expect(created.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
    const again = await run(...words(email.toUpperCase()));
    expect(again).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/^error: .* already exists.*\n$/) });
    await expectPairs();
  });

  it('rejects an empty password in one line, and creates no user', async () => {
    const email = newAddress();
    const failure = { code: 1, stdout: '', stderr: expect.stringMatching(/^error: The password is empty\. [^\n]+\n$/) };
    expect(await under({ input: '\n' }).run(...words(email))).toEqual(failure);
    expect(await credentialOf(email)).toBeUndefined();
  });

  it.each([
    ['15', 22],
    ['40', 40],
  ])('--generate-password shows a new password once if the stage requires %s characters', async (minimum, length) => {
    const email = newAddress();
    const stage = under({ outputs: { PasswordMinimumLength: minimum } });
    const { stdout } = await stage.run(...words(email, '--generate-password'));
    const [, password = ''] = /password {2}(\w+)\nThe password is shown only once/.exec(stdout) ?? [];
    expect([password.length, await isPassword(email, password)]).toEqual([length, true]);
  });
});

it('ops users list lists the users of an account by address, or in pages', async () => {
  const emails = ['c', 'a', 'b'].map(name => `${name}@listed.example`);
  for (const email of emails) await createUser('listed', email);
  const list = async (options: string): Promise<User[]> => json(`users list --account ${options}`);
  expect((await list('listed')).map(({ email }) => email)).toEqual(emails.toSorted());
  const first = await list('listed --limit 2');
  const rest = await list(`listed --limit 2 --after ${first.at(-1)?.userId}`);
  expect([first.length, ...[...first, ...rest].map(({ email }) => email).sort()]).toEqual([2, ...emails.toSorted()]);
  expect(await list('nobody')).toEqual([]);
});

describe('a change of a user', () => {
  it.each([
    ['set-role USER member', { role: 'member' }, 0],
    ['set-email USER moved@example.com', { email: 'moved@example.com' }, 0],
    ['set-password USER', {}, 1],
    ['disable USER', { status: 'disabled' }, 1],
    ['enable USER', {}, 0],
    ['unlock USER', {}, 0],
  ])('%s changes only the requested values, and ends sessions only if required', async (words, changes, ended) => {
    const { userId } = await createUser();
    const [before, { updatedAt: _, ...shown }] = [await stored(userId), await json(`users show ${userId}`)];
    expect(await json(`users ${words.replace('USER', userId)}`)).toMatchObject(changes);
    expect(await json(`users show ${userId}`)).toMatchObject({ ...shown, ...changes });
    expect(((await stored(userId))?.version ?? 0) - (before?.version ?? 0)).toBe(ended);
    await expectPairs();
  });

  it.each(['disable', 'delete'])('%s fails without --yes, and has no effect', async verb => {
    const { userId, email } = await createUser();
    const before = await stored(userId);
    const question = new RegExp(`^error: This .*${verb}s user ${email} of .* Add --yes to confirm\\.\n$`);
    const failure = { code: 1, stdout: '', stderr: expect.stringMatching(question) };
    expect(await run(`users ${verb} ${email}`)).toEqual(failure);
    expect(await stored(userId)).toEqual(before);
  });

  it.each(['show X', 'enable X', 'disable X', 'delete X', 'unlock X', 'set-role X member', 'set-password X'])(
    '%s reports an unknown address or id',
    async words => {
      for (const name of ['nobody', 'nobody@example.com']) {
        const stderr = `error: There is no user "${name}". "users list" shows all users.\n`;
        const failure = { code: 1, stdout: '', stderr };
        expect(await run(`--yes users ${words.replace('X', name)}`)).toEqual(failure);
      }
    },
  );

  it('set-email changes the address of the credential, frees the old address, and rejects an existing address', async () => {
    const [one, other] = [await createUser(), await createUser()];
    const before = await credentialOf(one.email);
    const next = newAddress();
    await json('users', 'set-email', one.userId, ` ${next.toUpperCase()}`);
    expect(await credentialOf(next)).toEqual({ ...before, email: next });
    expect(await credentialOf(one.email)).toBeUndefined();
    await createUser('acme', one.email);
    const failure = { code: 1, stdout: '', stderr: `error: ${addressTaken(other.email)}\n` };
    expect(await run(`users set-email ${one.userId} ${other.email}`)).toEqual(failure);
    await expectPairs();
  });

  // The SDK repeats a call if its response was lost. The idempotency token prevents a second transaction.
  it.each(['set-email USER repeated@example.com', 'set-password USER', 'delete USER'])(
    '%s succeeds if the SDK repeats its transaction',
    async words => {
      const { userId } = await createUser();
      const before = ['TransactWrite', 1, (again: () => Promise<unknown>) => again()] as const;
      expect(await under({ before }).json(`users ${words.replace('USER', userId)}`)).toMatchObject({ userId });
      await expectPairs();
    },
  );
});

describe('two concurrent commands on one user', () => {
  const commands = ['set-email USER USER-next@example.com', 'set-password USER --generate-password', 'delete USER'];
  const others = [
    ...[...commands, 'set-email USER USER-other@example.com', 'set-role USER member', 'enable USER', 'disable USER'],
    'create --email USER-next@example.com --account acme --role admin',
  ];
  const cases = commands.flatMap(command => others.map(other => [command, other] as const));

  it.each(cases)('leave one credential for each user: %s, with %s before each of its calls', async (command, other) => {
    for (let nth = 1; nth <= 6; nth += 1) {
      const { userId } = await createUser();
      const words = (one: string) => `--yes users ${one.replaceAll('USER', userId)}`;
      const before = ['Get|Update|TransactWrite', nth, () => run(words(other))] as const;
      const { code, stdout, stderr } = await under({ before }).run(words(command));
      await expectPairs();
      if (code === 0) continue;
      expect([code, stdout]).toEqual([1, '']); // a password is only shown if it is valid
      expect(stderr).toMatch(/^error: (.* at the same time\. Run .*|.* already exists.*|There is no user .*)\n$/);
      if (!stderr.includes(changed)) continue;
      const next = `${userId.toLowerCase()}-next@example.com`;
      const again = expect.stringMatching(new RegExp(`^$|${next} already exists|There is no user`));
      expect(await run(words(command))).toMatchObject({ stderr: again });
      await expectPairs();
    }
  });
});

describe('ops users delete', () => {
  it.each([2, 3])('can be repeated by address or id after a failure of write %i', async nth => {
    const { userId, email } = await createUser();
    await addSession(userId);
    const killed = under({ before: ['Put|Update|Delete|BatchWrite|TransactWrite', nth, fail] });
    expect(await killed.run(`--yes users delete ${userId}`)).toMatchObject({ code: 1 });
    expect(await json(`users show ${email}`)).toMatchObject({ userId, status: 'disabled' });
    expect(await json(`users delete ${nth === 2 ? email : userId}`)).toEqual({ userId, deleted: true });
    const session = await operated.item('Sessions', { userId, sessionId: `${userId}-1` });
    expect([await stored(userId), await credentialOf(email), session]).toEqual([undefined, undefined, undefined]);
    await createUser('acme', email);
    await expectPairs();
  });

  it('deletes a restored user if the credential is missing or belongs to another user', async () => {
    const first = await createUser();
    const credential = { TableName: 'Credentials', Key: { email: first.email } };
    await operated.database.dynamo(new DeleteCommand(credential));
    const failure = { code: 1, stdout: '', stderr: `error: ${changed}\n` };
    expect(await run(`users set-email ${first.userId} ${newAddress()}`)).toEqual(failure);
    const next = await createUser('acme', first.email);
    expect(await run(`users set-password ${first.userId}`)).toEqual(failure);
    await json(`users delete ${first.userId}`);
    expect([await stored(first.userId), (await stored(next.userId))?.email]).toEqual([undefined, first.email]);
    await expectPairs();
  });
});

it.each(['users set-password EMAIL --generate-password', 'users delete EMAIL', 'accounts delete keyless'])(
  'ops %s has no effect if the MAC key is not available',
  async words => {
    const { userId, email } = await createUser('keyless');
    const state = async () => [await stored(userId), await credentialOf(email)];
    const before = await state();
    const keyless = under({ outputs: { KmsEndpoint: 'http://127.0.0.1:9' } });
    const failure = { code: 1, stdout: '', stderr: expect.stringContaining('No service responds') };
    expect(await keyless.run(`--yes ${words.replace('EMAIL', email)}`)).toEqual(failure);
    expect(await state()).toEqual(before);
  },
);

describe('the failed logins of a user', () => {
  const failFor = async (email: string, client = 'client', times = 1) => {
    const key = await operated.lockout.keyOf(client, email);
    for (let time = 0; time < times; time++) await operated.lockout.recordFailure(key, parseFailures(undefined, 0));
  };
  const failures = async (user: string) => (await json(`users show ${user}`)).failedLogins;

  it('are shown by client, with active locks', async () => {
    const { email } = await createUser();
    expect((await run(`users show ${email}`)).stdout).toMatch(/failed logins +none/);
    const [one, other] = [await operated.createClient(), await operated.createClient()];
    await failFor(email, one.clientId, 12);
    await failFor(email, other.clientId, 2);
    await failFor(email, 'deletedclient');
    const shownFailures = await failures(email);
    expect(shownFailures).toHaveLength(3);
    expect(shownFailures).toEqual(
      expect.arrayContaining([
        { clientId: one.clientId, failures: 12, lockedUntil: expect.stringMatching(/^20.*Z$/) },
        { clientId: other.clientId, failures: 2, lockedUntil: null },
        { clientId: null, failures: 1, lockedUntil: null },
      ]),
    );
    const { stdout } = await run(`users show ${email}`);
    expect(stdout).toMatch(new RegExp(`failed logins +12 through client ${one.clientId}, .* until 20\\S+Z\\n`));
    expect(stdout).toMatch(/failed logins +1 through a deleted client\n?/);
  });

  it('are deleted by unlock, which reports whether there were any', async () => {
    const { email } = await createUser();
    await failFor(email, 'client', 6);
    expect(await json(`users unlock ${email}`)).toMatchObject({ email, hadFailures: true });
    expect(await json(`users unlock ${email}`)).toMatchObject({ email, hadFailures: false });
    expect((await run(`users unlock ${email}`)).stdout).toMatch(/There were no failed logins/);
    expect(await failures(email)).toEqual([]);
  });

  it('are deleted by set-password for the current address of the user', async () => {
    const { userId, email } = await createUser();
    const next = newAddress();
    const interfere = async () => {
      await json(`users set-email ${userId} ${next}`);
      await Promise.all([failFor(email), failFor(next)]);
    };
    await under({ before: ['Get', 3, interfere] }).json(`users set-password ${userId}`);
    const remaining = await Promise.all([email, next].map(one => operated.lockout.findFailures(one, [])));
    expect(remaining.map(({ length }) => length)).toEqual([1, 0]);
  });

  it('do not prevent the output of a generated password if they cannot be deleted', async () => {
    const { userId, email } = await createUser();
    await failFor(email);
    const failing = under({ before: ['Delete', 1, fail] });
    const { code, stdout, stderr } = await failing.run(`users set-password ${userId} --generate-password`);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\npassword {2}\w{22}\n/)]);
    expect(stderr).toContain(`Run "users unlock ${userId}"`);
  });
});
