import type { User } from '../../lambdas/auth/principals/user.ts';
import type { FailuresAtClient } from '../../lambdas/auth/protection/lockout.ts';
import { iso, type Line, makeFormatter, type ObjectReport, type Report } from '../command-line/report.ts';
import { isUnread, type Part } from '../stage/operator.ts';
import type { Imported } from './import-users.ts';

const user = makeFormatter<User>([
  { json: 'userId', heading: 'user id' },
  { json: 'email', heading: 'e-mail' },
  { json: 'accountId', heading: 'account' },
  { json: 'role', heading: 'role' },
  { json: 'status', heading: 'status' },
  { json: 'createdAt', value: ({ createdAt }) => iso(createdAt) },
  { json: 'updatedAt', value: ({ updatedAt }) => iso(updatedAt) },
]);

export const listReport = user.list(
  'No users. To create one, run: npm run ops -- users create --email ana@acme.com.br --account acme --role admin',
);

export const changedReport = user.change(
  ({ email, status }) =>
    `User ${email} is ${status}.${status === 'disabled' ? ' Their sessions have ended. Enabling the user does not restore them.' : ''}`,
);

export const roleReport = user.change(
  ({ email, role, accountId }) => `User ${email} is ${role} of account ${accountId}.`,
);

export const emailReport = user.change(
  ({ email }) => `The user now logs in as ${email}. Their password and sessions stay valid.`,
);

export function createdReport({ user: created, generatedPassword }: UserWithPassword): Report {
  return withPassword(user.show(created), generatedPassword);
}

export function passwordReport({ user: changed, generatedPassword }: UserWithPassword): Report {
  const text = `The password of ${changed.email} is changed, and their sessions have ended.`;
  return withPassword({ json: user.json(changed), text }, generatedPassword);
}

/** Reports a user with the failed logins that have not expired. */
export function showReport({ user: found, failedLogins }: UserWithFailures): Report {
  const json = isUnread(failedLogins)
    ? failedLogins
    : failedLogins.map(({ clientId = null, failures, lockedUntil }) => ({
        clientId,
        failures,
        lockedUntil: iso(lockedUntil),
      }));
  return { json: { ...user.json(found), failedLogins: json }, text: user.lines(found, failuresOf(failedLogins)) };
}

export function unlockedReport({ user: found, hadFailures }: { readonly user: User; readonly hadFailures: boolean }) {
  const { email, status } = found;
  const state = status === 'enabled' ? 'may log in' : `is ${status}`;
  const failures = hadFailures ? 'The failed logins are cleared.' : 'There were no failed logins.';
  return { json: { ...user.json(found), hadFailures }, text: `User ${email} ${state}. ${failures}` };
}

export function importedReport(counts: Imported): Report {
  const { created, existing } = counts;
  return { json: counts, text: `Users created: ${created}. Existing users, unchanged: ${existing}.` };
}

export function deletedReport({ userId, email }: { readonly userId: string; readonly email: string }): Report {
  return {
    json: { userId, deleted: true },
    text: `User ${email} is deleted, and their sessions have ended. Another user can now have the address.`,
  };
}

interface UserWithPassword {
  readonly user: User;
  /** The password, if it was generated and must be shown. */
  readonly generatedPassword?: string | undefined;
}

interface UserWithFailures {
  readonly user: User;
  readonly failedLogins: Part<readonly FailuresAtClient[]>;
}

/** Adds a generated password, if any, to a report. */
function withPassword({ json, text }: ObjectReport, password: string | undefined): Report {
  if (password === undefined) return { json, text };
  return {
    json: { ...json, password },
    text: `${text}\n\npassword  ${password}\nThe password is shown only once. Store it now.`,
  };
}

function failuresOf(failedLogins: UserWithFailures['failedLogins']): readonly Line[] {
  if (isUnread(failedLogins)) return [['failed logins', `could not be read: ${failedLogins.unread}`]];
  if (failedLogins.length === 0) return [['failed logins', 'none']];
  return failedLogins.map(({ clientId, failures, lockedUntil }): Line => {
    const where = clientId === undefined ? 'a deleted client' : `client ${clientId}`;
    const lock = lockedUntil === undefined ? '' : `, locked out of that client until ${iso(lockedUntil)}`;
    return ['failed logins', `${failures} through ${where}${lock}`];
  });
}
