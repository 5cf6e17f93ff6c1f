import { emailsOf, normaliseEmail, type User } from '../../lambdas/auth/principals/user.ts';
import { openLockout, openSessions, openUsers } from '../stage/stores.ts';
import type { Task } from '../stage/target.ts';
import { eraseLogin, eraseUser } from './erase-user.ts';
import { noUser, ownerOf } from './users.ts';

/**
 * Deletes a user with their password, sessions and addresses. Whatever it was killed at, it goes on by the user's id, and by their
 * address until the credential is gone. By its address it also deletes what the creation of a user left that was killed.
 */
export async function deleteUser({ target, confirm, progress }: Task, reference: string) {
  const users = openUsers(target);
  const data = { users, sessions: openSessions(target), lockout: await openLockout(target) };
  const userId = await ownerOf(users, reference);
  const user = await users.findUser(userId);
  const isByEmail = reference.includes('@');
  if (user ? isByEmail && !isNamedBy(user, reference) : !isByEmail) throw noUser(reference);
  const email = user?.email ?? reference;
  await confirm(`This deletes user ${email} of ${target.label}, with their password and sessions.`);
  let deleted = 0;
  const tell = (count: number) => {
    deleted += count;
    progress(`${deleted} sessions deleted`);
  };
  if (!(await eraseUser(data, userId, tell)) && isByEmail) {
    await data.sessions.deleteSessions(userId, tell);
    await eraseLogin(data, userId, reference);
  }
  return { userId, email };
}

/** A change of the address that ended half-way names a user by one that is not theirs; a deletion may have only that one left. */
function isNamedBy(user: User, reference: string): boolean {
  const email = normaliseEmail(reference);
  return user.status === 'deleting' ? emailsOf(user).includes(email) : user.email === email;
}
