import { type Command, Option } from 'commander';
import { type Role, roles, type User } from '../../lambdas/auth/user.ts';
import type { UserStore } from '../../lambdas/auth/user-store.ts';
import { Fault } from './fault.ts';
import { accountId, emailAddress, notEmpty } from './option-values.ts';
import { readPassword } from './password.ts';
import { fields, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';

const openStore = async (target: Target): Promise<UserStore> => (await import('./documents.ts')).openUsers(target);

/** What is shown of a user: everything but the password's hash. */
const view = (user: User) => ({
  userId: user.userId,
  email: user.email,
  accountId: user.accountId,
  role: user.role,
  status: user.status,
  createdAt: new Date(user.createdAt).toISOString(),
  updatedAt: new Date(user.updatedAt).toISOString(),
});

interface CreateOptions {
  readonly email: string;
  readonly account: string;
  readonly role: Role;
}

const create = async (target: Target, { email, account, role }: CreateOptions): Promise<Report> => {
  const store = await openStore(target);
  const taken = new Fault(`a user with the e-mail address ${email} exists already.`);
  if (await store.findUserByEmail(email)) throw taken;
  const password = await readPassword();
  try {
    const user = await store.createUser({ email, password, accountId: account, role });
    const text = fields([
      ['user id', user.userId],
      ['e-mail', user.email],
      ['account', user.accountId],
      ['role', user.role],
      ['status', user.status],
    ]);
    return { json: view(user), text };
  } catch (error) {
    if (error instanceof Error && error.name === 'EmailTakenError') throw taken; // another create was quicker
    throw error;
  }
};

const list = async (target: Target): Promise<Report> => {
  const users = await (await openStore(target)).listUsers();
  const columns = [
    { heading: 'USER ID', cell: (user: User) => user.userId },
    { heading: 'E-MAIL', cell: (user: User) => user.email },
    { heading: 'ACCOUNT', cell: (user: User) => user.accountId },
    { heading: 'ROLE', cell: (user: User) => user.role },
    { heading: 'STATUS', cell: (user: User) => user.status },
  ];
  const whenEmpty =
    'No users yet. Create one: npm run ops -- users create --email ana@acme.com.br --account acme --role admin';
  return { json: users.map(view), text: table(users, columns, whenEmpty) };
};

const findUser = async (store: UserStore, reference: string): Promise<User> => {
  const user = reference.includes('@') ? await store.findUserByEmail(reference) : await store.findUser(reference);
  if (!user) throw new Fault(`there is no user "${reference}": "users list" shows them.`);
  return user;
};

/** Finds a user, changes them, reports; a user deleted in between counts as not found. */
const change = async (
  target: Target,
  reference: string,
  apply: (store: UserStore, user: User) => Promise<User | undefined>,
  tell: (user: User) => string,
): Promise<Report> => {
  const store = await openStore(target);
  const found = await findUser(store, reference);
  const changed = await apply(store, found);
  if (!changed) throw new Fault(`there is no user "${reference}": "users list" shows them.`);
  return { json: view(changed), text: tell(changed) };
};

const examples = `
A user is named by e-mail address or user id. Passwords are asked for, or read from standard input; never an argument.

Examples:
  npm run ops -- users create --email ana@acme.com.br --account acme --role admin
  pass show acme/ana | npm run --silent ops -- users set-password ana@acme.com.br
  npm run ops -- users disable ana@acme.com.br`;

const userArgument = ['<user>', 'e-mail address or user id', notEmpty] as const;

/** Adds `users`. */
export const addUsers = (program: Command, run: Run): void => {
  const users = program
    .command('users')
    .description('users who log in: create, list, enable, disable, set-role, set-password')
    .addHelpText('after', examples);

  users
    .command('create')
    .description('create a user; the password is asked for, or read from standard input')
    .requiredOption('--email <address>', 'the user name of the password grant', emailAddress)
    .requiredOption('--account <id>', 'the account the user belongs to', accountId)
    .addOption(new Option('--role <role>', 'admins manage webhooks').choices(roles).makeOptionMandatory())
    .addHelpText('after', examples)
    .action((options: CreateOptions, command: Command) => run(command, target => create(target, options)));

  users
    .command('list')
    .description('list all users')
    .action((_options: object, command: Command) => run(command, list));

  for (const [name, status] of [
    ['enable', 'enabled'],
    ['disable', 'disabled'],
  ] as const) {
    users
      .command(name)
      .description(status === 'enabled' ? 'let a disabled user in again' : 'shut a user out, tokens already issued too')
      .argument(...userArgument)
      .action((reference: string, _options: object, command: Command) =>
        run(command, target =>
          change(
            target,
            reference,
            (store, user) => store.setUserStatus(user.userId, status),
            user => `User ${user.email} is ${status}.`,
          ),
        ),
      );
  }

  users
    .command('set-role')
    .description('change what a user may do; holds at once')
    .argument(...userArgument)
    .addArgument(program.createArgument('<role>').choices(roles))
    .action((reference: string, role: Role, _options: object, command: Command) =>
      run(command, target =>
        change(
          target,
          reference,
          (store, user) => store.setUserRole(user.userId, role),
          user => `User ${user.email} is ${user.role} of account ${user.accountId}.`,
        ),
      ),
    );

  users
    .command('set-password')
    .description("change a user's password; ends all their sessions")
    .argument(...userArgument)
    .action((reference: string, _options: object, command: Command) =>
      run(command, target =>
        change(
          target,
          reference,
          async (store, user) => store.setUserPassword(user.userId, await readPassword()),
          user => `The password of ${user.email} is changed, and their sessions are over.`,
        ),
      ),
    );
};
