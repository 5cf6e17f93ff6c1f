import * as z from 'zod';
import { roles, type User } from '../../lambdas/auth/principals/user.ts';
import { command, type Noun } from '../audit/command.ts';
import { argument, flag, option, required } from '../command-line/arg-spec.ts';
import {
  accountId,
  emailAddress,
  filePath,
  ordinaryAccountId,
  principalId,
  userReference,
  wholeNumber,
} from '../command-line/forms.ts';
import { untilInterrupted } from '../command-line/until-interrupted.ts';
import { CliError, describeError } from '../stage/operator.ts';
import { openClients, openLockout, openUsers } from '../stage/stores.ts';
import type { Target, Task } from '../stage/target.ts';
import type { UserStore } from '../stores/user-store.ts';
import { deleteUser } from './delete-user.ts';
import { importUsers } from './import-users.ts';
import { importedKinds } from './imported-hashes.ts';
import { choosePassword } from './passwords.ts';
import {
  changedReport,
  createdReport,
  deletedReport,
  emailReport,
  importedReport,
  listReport,
  passwordReport,
  roleReport,
  showReport,
  unlockedReport,
} from './user-reports.ts';
import { findUser, lookUpUser, noUser } from './users.ts';

const examples = `
Specify a user by e-mail address or user id. Addresses are stored in lower case, with their domain in ASCII. An address is
rejected if it has an invisible character or a domain without a dot. Passwords are not passed as arguments: the command asks
for the password, reads it from standard input, or generates it. A password must have the stage's passwordMinimumLength
(default: 15 characters) and must not be a common password.

Examples:
  npm run ops -- users create --email ana@acme.com.br --account acme --role admin --generate-password
  pass show acme/ana | npm run --silent ops -- users set-password ana@acme.com.br
  npm run ops -- users import users.ndjson
  npm run ops -- users list --account acme
  npm run ops -- users unlock ana@acme.com.br
  npm run ops -- users disable ana@acme.com.br`;

const ofUser = { user: argument('user', 'the e-mail address or id of the user', userReference) };

const generatePassword = flag('generate a password and show it once');

const create = command('users create', {
  description: 'create a user, with a password from a prompt or from standard input',
  notes: examples,
  args: {
    email: required('<address>', 'the e-mail address, which is the `username` in the password grant', emailAddress),
    account: required('<id>', 'the account that the user belongs to', ordinaryAccountId),
    role: required('<role>', 'only admins can manage webhooks', z.enum(roles)),
    generatePassword,
  },
  effect: 'writes',
  act: async (task, { email, account, role, generatePassword }) => {
    const store = openUsers(task.target);
    if (await store.findUserByEmail(email)) {
      throw new CliError(`A user with the e-mail address ${email} already exists. "users show ${email}" shows it.`);
    }
    const { password, generatedPassword } = await choosePassword(task, generatePassword);
    const user = await store.createUser({ email, password, accountId: account, role });
    task.recordResult({ user: user.userId });
    return { user, generatedPassword };
  },
  subject: (_task, { account }) => ({ account }),
  change: ({ role }) => ({ role }),
  report: createdReport,
});

const importAll = command('users import', {
  description: 'import users with their existing password hashes; existing users do not change',
  notes: `\nHashes:\n${importedKinds.map(kind => `  ${kind}`).join('\n')}`,
  args: { file: argument('file', 'one JSON object per line: email, account, role, password_hash', filePath) },
  effect: 'writes',
  act: (task, { file }) => untilInterrupted(signal => importUsers(task, file, signal), task.print),
  report: importedReport,
});

const list = command('users list', {
  description: 'list all users, the users of an account, or a page of them',
  args: {
    account: option('<id>', 'only users of this account; reads all users', accountId),
    limit: option('<n>', 'show at most n users', wholeNumber(1, 100_000)),
    after: option('<id>', 'continue after this user, the last one on the previous page', principalId),
  },
  effect: 'reads',
  act: async ({ target, progress }, page) =>
    openUsers(target).listUsers({ ...page, onPage: read => progress(`Users read so far: ${read}`) }),
  report: listReport,
});

const show = command('users show', {
  description: 'show a user, with recent failed logins and locks by client',
  args: ofUser,
  effect: 'reads',
  act: async ({ target }, { user: reference }) => {
    const user = await findUser(openUsers(target), reference);
    return { user, failedLogins: await readFailures(target, user) };
  },
  report: showReport,
});

const enable = command('users enable', {
  description: 'enable a disabled user',
  args: ofUser,
  effect: 'writes',
  act: async ({ target }, { user }) =>
    change(target, user, (store, { userId }) => store.setUserStatus(userId, 'enabled')),
  subject: auditSubject,
  report: changedReport,
});

const disable = command('users disable', {
  description: 'disable a user and permanently end their sessions',
  args: ofUser,
  effect: 'writes',
  act: async ({ target, confirm }, { user }) => {
    const { email } = await findUser(openUsers(target), user);
    await confirm(`This disables user ${email} of ${target.label} and permanently ends their sessions.`);
    return change(target, user, (store, { userId }) => store.setUserStatus(userId, 'disabled'));
  },
  subject: auditSubject,
  report: changedReport,
});

const remove = command('users delete', {
  description: 'permanently delete a user with their address, password and sessions; the command can be repeated',
  args: ofUser,
  effect: 'writes',
  act: (task, { user }) => deleteUser(task, user),
  subject: auditSubject,
  report: deletedReport,
});

const unlock = command('users unlock', {
  description: 'clear the failed logins of a user, for all clients',
  args: ofUser,
  effect: 'writes',
  act: async ({ target }, { user: reference }) => {
    const user = await findUser(openUsers(target), reference);
    return { user, hadFailures: await (await openLockout(target)).unlock(user.email) };
  },
  subject: auditSubject,
  report: unlockedReport,
});

const setRole = command('users set-role', {
  description: 'change the role of a user immediately, without ending their sessions',
  args: { ...ofUser, role: argument('role', 'the new role', z.enum(roles)) },
  effect: 'writes',
  act: async ({ target }, { user, role }) =>
    change(target, user, (store, { userId }) => store.setUserRole(userId, role)),
  subject: auditSubject,
  change: ({ role }) => ({ role }),
  report: roleReport,
});

const setPassword = command('users set-password', {
  description: "change a user's password, end all their sessions and clear failed logins",
  args: { ...ofUser, generatePassword },
  effect: 'writes',
  act: async (task, { user: reference, generatePassword }) => {
    const { target } = task;
    const store = openUsers(target);
    const { userId } = await findUser(store, reference);
    const lockout = await openLockout(target);
    const { password, generatedPassword } = await choosePassword(task, generatePassword);
    const user = await store.setUserPassword(userId, password);
    if (!user) throw noUser(reference);
    // Runs last to clear failures that were counted in the meantime, and uses the current address, which may have changed.
    await lockout.unlock(user.email).catch(error => {
      const why = describeError(error, target.unreachable);
      task.warn(`the password is changed, but the user may still be locked (${why}). Run "users unlock ${userId}".`);
    });
    return { user, generatedPassword };
  },
  subject: auditSubject,
  report: passwordReport,
});

const setEmail = command('users set-email', {
  description: "change a user's e-mail address, without ending their sessions",
  args: { ...ofUser, address: argument('address', 'the new e-mail address', emailAddress) },
  effect: 'writes',
  act: async ({ target }, { user, address }) =>
    change(target, user, (store, { userId }) => store.setUserEmail(userId, address)),
  subject: auditSubject,
  report: emailReport,
});

export const users: Noun = {
  name: 'users',
  description:
    'users who log in: create, import, list, show, enable, disable, delete, unlock, set-role, set-password, set-email',
  notes: examples,
  commands: [create, importAll, list, show, enable, disable, remove, unlock, setRole, setPassword, setEmail],
};

/** Returns the id of the user for the audit trail, if the user exists. */
async function auditSubject({ target }: Pick<Task, 'target'>, { user }: { readonly user: string }) {
  return { user: (await lookUpUser(openUsers(target), user))?.userId };
}

/** Reads failed logins. Requires the MAC key, which some operators who may read users cannot access. */
async function readFailures(target: Target, { email }: User) {
  try {
    const clients = await openClients(target).listClients();
    const ids = clients.map(({ clientId }) => clientId);
    return await (await openLockout(target)).findFailures(email, ids);
  } catch (error) {
    return { unread: describeError(error, target.unreachable) };
  }
}

/** Changes a user. @throws {CliError} if the user does not exist, or is deleted at the same time. */
async function change(
  target: Target,
  reference: string,
  apply: (store: UserStore, user: User) => Promise<User | undefined>,
): Promise<User> {
  const store = openUsers(target);
  const user = await findUser(store, reference);
  const changed = await apply(store, user);
  if (!changed) throw noUser(reference);
  return changed;
}
