import type { User } from '../../lambdas/auth/principals/user.ts';
import type { Lockout } from '../../lambdas/auth/protection/lockout.ts';
import type { SessionList } from '../stores/session-list.ts';
import type { UserStore } from '../stores/user-store.ts';

/** The stores that contain data of a user. */
interface UserData {
  readonly users: Pick<UserStore, 'setUserStatus' | 'deleteUser'>;
  readonly sessions: Pick<SessionList, 'deleteSessions'>;
  /** The lockout, which requires the MAC key. Without it, failed logins stay until they expire. */
  readonly lockout?: Pick<Lockout, 'unlock'>;
}

/**
 * Disables a user, deletes their sessions and failed logins, then the user and the credential. The call can be repeated
 * after an interruption. Returns the user, or `undefined` if the user does not exist.
 * @param onDeleted - receives the number of newly deleted sessions.
 * @throws {CliError} if another command changed the user at the same time.
 */
export async function deleteUserData(
  { users, sessions, lockout }: UserData,
  userId: string,
  onDeleted?: (count: number) => void,
): Promise<User | undefined> {
  const user = await users.setUserStatus(userId, 'disabled');
  if (!user) return undefined;
  await sessions.deleteSessions(userId, onDeleted);
  await lockout?.unlock(user.email);
  await users.deleteUser(user);
  return user;
}
