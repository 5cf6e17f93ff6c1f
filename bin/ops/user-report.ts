import type { User } from '../../lambdas/auth/principals/user.ts';
import { fields, iso, type Report, table } from './report.ts';

/** One user. */
export function reportUser(user: User): Report {
  const text = fields([
    ['user id', user.userId],
    ['e-mail', user.email],
    ['account', user.accountId],
    ['role', user.role],
    ['status', user.status],
  ]);
  return { json: viewUser(user), text };
}

/** A user and a password that nobody else knows yet. */
export function withGeneratedPassword({ json, text }: Report, password: string): Report {
  return {
    json: { ...(json as object), password },
    text: `${text}\n\npassword  ${password}\nThe password is shown this once and kept nowhere: hand it over now.`,
  };
}

/** Many users, one a line. */
export function reportUsers(users: readonly User[]): Report {
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

/** What is shown of a user: everything but the password's hash. */
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
