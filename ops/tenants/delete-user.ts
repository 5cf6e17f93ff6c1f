import { openLockout, openSessions, openUsers } from '../stage/stores.ts';
import type { Task } from '../stage/target.ts';
import { deleteUserData } from './delete-user-data.ts';
import { findUser } from './users.ts';

/** Deletes a user with their password and sessions. The call can be repeated after an interruption. */
export async function deleteUser({ target, confirm, progress }: Task, reference: string) {
  const users = openUsers(target);
  const data = { users, sessions: openSessions(target), lockout: await openLockout(target) };
  const { userId, email } = await findUser(users, reference);
  await confirm(`This permanently deletes user ${email} of ${target.label}, with their password and sessions.`);
  let deleted = 0;
  await deleteUserData(data, userId, count => {
    deleted += count;
    progress(`${deleted} sessions deleted`);
  });
  return { userId, email };
}
