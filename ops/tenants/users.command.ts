import { type Command, Option } from 'commander';
import { importedKinds } from '../../lambdas/auth/principals/imported-hash.ts';
import { roles, type User } from '../../lambdas/auth/principals/user.ts';
import {
  accountId,
  afterOption,
  emailAddress,
  limitOption,
  notEmpty,
  ordinaryAccountId,
  userId,
  userReference,
} from '../command-line/option-values.ts';
import { iso, type Line, makeShape, type ObjectReport, type Report } from '../command-line/report.ts';
import type { Run } from '../command-line/run.ts';
import { isUnread } from '../stage/operator.ts';
import type { Imported } from './import-users.ts';
import type { DeletedUser, UnlockedUser, UserWithFailures, UserWithPassword } from './users.ts';

/** Adds `users`. */
export function addUsers(program: Command, run: Run): void {
  const users = program
    .command('users')
    .description(
      'users who log in: create, import, list, show, enable, disable, delete, unlock, set-role, set-password, set-email',
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
    .action(
      run(
        actions,
        all => all.createUser,
        created => withPassword(user.show(created.user), created),
      ),
    );

  users
    .command('import')
    .description('take over users with the password hashes that they have; users that are there stay as they are')
    .argument('<file>', 'a JSON object on each line: email, account, role, password_hash', notEmpty)
    .addHelpText('after', `\nHashes:\n${importedKinds.map(kind => `  ${kind}`).join('\n')}`)
    .action(run(importActions, all => all.importUsers, imported));

  users
    .command('list')
    .description('list all users, those of an account, or a page of them')
    .option('--account <id>', 'those of this account only; all are read for them', accountId)
    .addOption(limitOption())
    .addOption(afterOption('user', userId))
    .action(run(actions, all => all.listUsers, listed));

  users
    .command('show')
    .description('show a user, with the failed logins that count, by client, and until when a lock stands')
    .argument(...userArgument)
    .action(run(actions, all => all.showUser, shown));

  for (const [name, action, description] of [
    ['enable', 'enableUser', 'let a disabled user in again'],
    ['disable', 'disableUser', 'shut a user out; their sessions are over for good'],
  ] as const) {
    users
      .command(name)
      .description(description)
      .argument(...userArgument)
      .action(run(actions, all => all[action], changed));
  }

  users
    .command('delete')
    .description(
      'delete a user with their address, password and sessions; the address is free then; it may be repeated',
    )
    .argument(...userArgument)
    .action(run(actions, all => all.deleteUser, deleted));

  users
    .command('unlock')
    .description('forget the failed logins of a user, of all clients')
    .argument(...userArgument)
    .action(run(actions, all => all.unlockUser, unlocked));

  users
    .command('set-role')
    .description('change what a user may do; holds at once, and ends no session')
    .argument(...userArgument)
    .addArgument(program.createArgument('<role>').choices(roles))
    .action(run(actions, all => all.setRole, promoted));

  users
    .command('set-password')
    .description("change a user's password; ends all their sessions and forgets failed logins")
    .argument(...userArgument)
    .addOption(generateOption())
    .action(
      run(
        actions,
        all => all.setPassword,
        done => withPassword(passwordChanged(done.user), done),
      ),
    );

  users
    .command('set-email')
    .description('give a user another e-mail address to log in with; ends no session')
    .argument(...userArgument)
    .argument('<address>', 'the new one', emailAddress)
    .action(run(actions, all => all.setEmail, renamed));
}

const examples = `
A user is named by e-mail address or user id. Passwords are asked for, read from standard input, or generated; never an
argument. They have at least 15 characters, or as many as the stage says (passwordMinimumLength), and are no common ones.

Examples:
  npm run ops -- users create --email ana@acme.com.br --account acme --role admin --generate-password
  pass show acme/ana | npm run --silent ops -- users set-password ana@acme.com.br
  npm run ops -- users import users.ndjson
  npm run ops -- users list --account acme
  npm run ops -- users unlock ana@acme.com.br
  npm run ops -- users disable ana@acme.com.br`;

const userArgument = ['<user>', 'e-mail address or user id', userReference] as const;

function generateOption() {
  return new Option('--generate-password', 'make a password and show it once');
}

function actions() {
  return import('./users.ts');
}

function importActions() {
  return import('./import-users.ts');
}

const user = makeShape<User>([
  { json: 'userId', heading: 'user id', value: ({ userId }) => userId },
  { json: 'email', heading: 'e-mail', value: ({ email }) => email },
  { json: 'accountId', heading: 'account', value: ({ accountId }) => accountId },
  { json: 'role', heading: 'role', value: ({ role }) => role },
  { json: 'status', heading: 'status', value: ({ status }) => status },
  { json: 'createdAt', value: ({ createdAt }) => iso(createdAt) },
  { json: 'updatedAt', value: ({ updatedAt }) => iso(updatedAt) },
]);

const listed = user.list(
  'No users. Create one: npm run ops -- users create --email ana@acme.com.br --account acme --role admin',
);

const changed = user.tell(
  ({ email, status }) =>
    `User ${email} is ${status}.${status === 'disabled' ? ' Their sessions are over; enabling them again brings none back.' : ''}`,
);

function shown({ user: found, failedLogins }: UserWithFailures): Report {
  const json = isUnread(failedLogins)
    ? failedLogins
    : {
        lockedUntil: iso(failedLogins.lockedUntil),
        clients: failedLogins.clients.map(({ clientId = null, failures, lockedUntil }) => ({
          clientId,
          failures,
          lockedUntil: iso(lockedUntil),
        })),
      };
  return { json: { ...user.json(found), failedLogins: json }, text: user.lines(found, failuresOf(failedLogins)) };
}

function failuresOf(failedLogins: UserWithFailures['failedLogins']): readonly Line[] {
  if (isUnread(failedLogins)) return [['failed logins', `could not be read: ${failedLogins.unread}`]];
  const { clients, lockedUntil } = failedLogins;
  if (clients.length === 0) return [['failed logins', 'none that count']];
  return [
    ...clients.map(
      ({ clientId, failures, lockedUntil: until }): Line => [
        'failed logins',
        `${failures} at ${clientId === undefined ? 'a client that is gone' : `client ${clientId}`}${until === undefined ? '' : `, locked there until ${iso(until)}`}`,
      ],
    ),
    ...(lockedUntil === undefined ? [] : [['locked', `at every client until ${iso(lockedUntil)}`] as const]),
  ];
}

function unlocked({ user: found, hadFailures }: UnlockedUser): Report {
  const before = hadFailures ? 'failed logins are forgotten' : 'no failed logins counted against them';
  return {
    json: { ...user.json(found), hadFailures },
    text: `${found.status === 'enabled' ? `User ${found.email} may log in` : `User ${found.email} is ${found.status}`}: ${before}.`,
  };
}

const promoted = user.tell(({ email, role, accountId }) => `User ${email} is ${role} of account ${accountId}.`);

const passwordChanged = user.tell(({ email }) => `The password of ${email} is changed, and their sessions are over.`);

const renamed = user.tell(({ email }) => `The user logs in as ${email} from now on; their password and sessions stay.`);

function imported(counts: Imported): Report {
  const { created, existing } = counts;
  return { json: counts, text: `Users created: ${created}. There already, and left as they are: ${existing}.` };
}

function deleted({ userId, email }: DeletedUser): Report {
  return {
    json: { userId, deleted: true },
    text: `User ${email} is deleted, and their sessions are over. The address is free.`,
  };
}

/** Adds a generated password to a report, if there is one: it is shown once. */
function withPassword({ json, text }: ObjectReport, { generatedPassword: password }: UserWithPassword): Report {
  if (password === undefined) return { json, text };
  return {
    json: { ...json, password },
    text: `${text}\n\npassword  ${password}\nThe password is shown this once and kept nowhere: hand it over now.`,
  };
}
