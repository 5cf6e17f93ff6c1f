import { type Command, Option } from 'commander';
import type { PageRequest } from '../../lambdas/auth/principals/scan.ts';
import { type Role, roles, type User } from '../../lambdas/auth/principals/user.ts';
import { afterOption, emailAddress, limitOption, notEmpty, ordinaryAccountId } from './option-values.ts';
import type { PasswordOptions } from './password.ts';
import { fields, iso, type Report, table } from './report.ts';
import type { Run } from './run.ts';
import { type Confirmed, yesOption } from './terminal.ts';
import type { DeletedUser, NewUser, UserWithPassword } from './user-actions.ts';

/** Adds `users`. */
export function addUsers(program: Command, run: Run): void {
  const users = program
    .command('users')
    .description(
      'users who log in: create, list, show, enable, disable, delete, unlock, set-role, set-password, set-email',
    )
    .addHelpText('after', examples);

  users
    .command('create')
    .description('create a user; the password is asked for, or read from standard input')
    .requiredOption('--email <address>', 'the user name of the password grant', emailAddress)
    .requiredOption('--account <id>', 'the account the user belongs to', ordinaryAccountId)
    .addOption(new Option('--role <role>', 'admins manage webhooks').choices(roles).makeOptionMandatory())
    .addOption(generateOption())
    .addHelpText('after', examples)
    .action((options: NewUser, command: Command) =>
      run(
        command,
        async (target, _progress, stdin) => (await actions()).createUser(target, options, stdin),
        reportWithPassword,
      ),
    );

  users
    .command('list')
    .description('list all users, or a page of them')
    .addOption(limitOption())
    .addOption(afterOption('user'))
    .action((page: PageRequest, command: Command) =>
      run(command, async target => (await actions()).listUsers(target, page), reportUsers),
    );

  users
    .command('show')
    .description('show a user')
    .argument(...userArgument)
    .action((reference: string, _options: object, command: Command) =>
      run(command, async target => (await actions()).showUser(target, reference), reportUser),
    );

  for (const [name, status] of [
    ['enable', 'enabled'],
    ['disable', 'disabled'],
  ] as const) {
    users
      .command(name)
      .description(
        status === 'enabled' ? 'let a disabled user in again' : 'shut a user out; their sessions are over for good',
      )
      .argument(...userArgument)
      .action((reference: string, _options: object, command: Command) =>
        run(command, async target => (await actions()).setStatus(target, reference, status), reportStatus),
      );
  }

  users
    .command('delete')
    .description('delete a user with their address, password and sessions; the address is free then')
    .argument(...userArgument)
    .addOption(yesOption())
    .action((reference: string, options: Confirmed, command: Command) =>
      run(command, async target => (await actions()).deleteUser(target, reference, options), reportDeleted),
    );

  users
    .command('unlock')
    .description('forget the failed logins of a user, of all clients')
    .argument(...userArgument)
    .action((reference: string, _options: object, command: Command) =>
      run(command, async target => (await actions()).unlockUser(target, reference), reportUnlocked),
    );

  users
    .command('set-role')
    .description('change what a user may do; holds at once, and ends no session')
    .argument(...userArgument)
    .addArgument(program.createArgument('<role>').choices(roles))
    .action((reference: string, role: Role, _options: object, command: Command) =>
      run(command, async target => (await actions()).setRole(target, reference, role), reportRole),
    );

  users
    .command('set-password')
    .description("change a user's password; ends all their sessions and forgets failed logins")
    .argument(...userArgument)
    .addOption(generateOption())
    .action((reference: string, options: PasswordOptions, command: Command) =>
      run(
        command,
        async (target, _progress, stdin) => (await actions()).setPassword(target, reference, options, stdin),
        reportPasswordChange,
      ),
    );

  users
    .command('set-email')
    .description('give a user another e-mail address to log in with; ends no session')
    .argument(...userArgument)
    .argument('<address>', 'the new one', emailAddress)
    .action((reference: string, email: string, _options: object, command: Command) =>
      run(command, async target => (await actions()).setEmail(target, reference, email), reportEmail),
    );
}

const examples = `
A user is named by e-mail address or user id. Passwords are asked for, read from standard input, or generated; never an
argument. They have at least 15 characters, or as many as the stage says (passwordMinimumLength), and are no common ones.

Examples:
  npm run ops -- users create --email ana@acme.com.br --account acme --role admin --generate-password
  pass show acme/ana | npm run --silent ops -- users set-password ana@acme.com.br
  npm run ops -- users unlock ana@acme.com.br
  npm run ops -- users disable ana@acme.com.br`;

const userArgument = ['<user>', 'e-mail address or user id', notEmpty] as const;

function generateOption() {
  return new Option('--generate-password', 'make a password and show it once');
}

function actions() {
  return import('./user-actions.ts');
}

function reportWithPassword({ user, generatedPassword }: UserWithPassword): Report {
  return withPassword(reportUser(user), generatedPassword);
}

function reportStatus(user: User): Report {
  const what = user.status === 'disabled' ? ' Their sessions are over; enabling them again brings none back.' : '';
  return { json: viewUser(user), text: `User ${user.email} is ${user.status}.${what}` };
}

function reportDeleted({ userId, email }: DeletedUser): Report {
  return {
    json: { userId, deleted: true },
    text: `User ${email} is deleted, and their sessions are over. The address is free.`,
  };
}

function reportUnlocked(user: User): Report {
  return { json: viewUser(user), text: `User ${user.email} may log in: failed logins are forgotten.` };
}

function reportRole(user: User): Report {
  return { json: viewUser(user), text: `User ${user.email} is ${user.role} of account ${user.accountId}.` };
}

function reportPasswordChange({ user, generatedPassword }: UserWithPassword): Report {
  const text = `The password of ${user.email} is changed, and their sessions are over.`;
  return withPassword({ json: viewUser(user), text }, generatedPassword);
}

function reportEmail(user: User): Report {
  const text = `The user logs in as ${user.email} from now on; their password and sessions stay.`;
  return { json: viewUser(user), text };
}

/** One user. */
function reportUser(user: User): Report {
  const text = fields([
    ['user id', user.userId],
    ['e-mail', user.email],
    ['account', user.accountId],
    ['role', user.role],
    ['status', user.status],
  ]);
  return { json: viewUser(user), text };
}

/** Adds a generated password to a report, if there is one: it is shown once. */
function withPassword({ json, text }: Report, password: string | undefined): Report {
  if (password === undefined) return { json, text };
  return {
    json: { ...(json as object), password },
    text: `${text}\n\npassword  ${password}\nThe password is shown this once and kept nowhere: hand it over now.`,
  };
}

/** Many users, one on a line. */
function reportUsers(users: readonly User[]): Report {
  const columns = [
    { heading: 'USER ID', cell: (user: User) => user.userId },
    { heading: 'E-MAIL', cell: (user: User) => user.email },
    { heading: 'ACCOUNT', cell: (user: User) => user.accountId },
    { heading: 'ROLE', cell: (user: User) => user.role },
    { heading: 'STATUS', cell: (user: User) => user.status },
  ];
  const whenEmpty =
    'No users. Create one: npm run ops -- users create --email ana@acme.com.br --account acme --role admin';
  return { json: users.map(viewUser), text: table(users, columns, whenEmpty) };
}

/** The JSON of a user. */
function viewUser(user: User) {
  return {
    userId: user.userId,
    email: user.email,
    accountId: user.accountId,
    role: user.role,
    status: user.status,
    createdAt: iso(user.createdAt),
    updatedAt: iso(user.updatedAt),
  };
}
