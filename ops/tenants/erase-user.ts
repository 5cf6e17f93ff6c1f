import { emailsOf, type User } from '../../lambdas/auth/principals/user.ts';
import type { Lockout } from '../../lambdas/auth/protection/lockout.ts';
import type { SessionList } from '../stores/session-list.ts';
import type { UserStore } from '../stores/user-store.ts';

/** The stores that hold something of a user. */
export interface UserData {
  readonly users: Pick<UserStore, 'beginDeletion' | 'deleteUser' | 'findOwner' | 'releaseEmail'>;
  readonly sessions: Pick<SessionList, 'deleteSessions'>;
  /** Needs the MAC key; without it the failed logins stay until they expire. */
  readonly lockout?: Pick<Lockout, 'unlock'>;
}

/**
 * Deletes a user: marks them first, so that no other change comes after it, then deletes sessions, failed logins and credentials, and
 * their record last. Whatever it was killed at, it is repeated by the id. Returns them as they were; `undefined` where there is none.
 *
 * @param onDeleted - is told how many more sessions were deleted.
 */
export async function eraseUser(
  data: UserData,
  userId: string,
  onDeleted?: (count: number) => void,
): Promise<User | undefined> {
  const { users, sessions } = data;
  const user = await users.beginDeletion(userId);
  if (!user) return undefined;
  await sessions.deleteSessions(userId, onDeleted);
  for (const email of emailsOf(user)) await eraseLogin(data, userId, email);
  await users.deleteUser(userId);
  return user;
}

/** Deletes the credential of an address, and its failed logins, where it is that user's: another one may have it by now. */
export async function eraseLogin({ users, lockout }: UserData, userId: string, email: string): Promise<void> {
  if ((await users.findOwner(email)) !== userId) return;
  await lockout?.unlock(email);
  await users.releaseEmail(userId, email);
}
