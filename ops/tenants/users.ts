import type { User } from '../../lambdas/auth/principals/user.ts';
import { CliError, isNamed } from '../stage/operator.ts';
import type { UserStore } from '../stores/user-store.ts';

// A reference to a user is an e-mail address or a user id.

/** Finds the user that a reference names. @throws {CliError} */
export async function findUser(
  store: Pick<UserStore, 'findUser' | 'findUserByEmail'>,
  reference: string,
): Promise<User> {
  const user = reference.includes('@') ? await store.findUserByEmail(reference) : await store.findUser(reference);
  if (!user) throw noUser(reference);
  return user;
}

/** Returns the id that a reference names, also of a user whose change or deletion ended half-way. @throws {CliError} */
export async function ownerOf(store: UserStore, reference: string): Promise<string> {
  const userId = reference.includes('@') ? await store.findOwner(reference) : reference;
  if (userId === undefined) throw noUser(reference);
  return userId;
}

/** Returns the store's answer. @throws {CliError} where it refuses the change for what the user is, or what others do. */
export async function unlessRefused<Answer>(userId: string, change: Promise<Answer>): Promise<Answer> {
  try {
    return await change;
  } catch (error) {
    if (isNamed(error, 'UserBeingDeletedError')) throw beingDeleted(userId);
    if (isNamed(error, 'PasswordHalfSetError')) {
      const why = 'no password of this user is in force, since a change of it ended half-way';
      throw new CliError(`${why}: "users set-password ${userId}" first.`);
    }
    if (error instanceof Error && refusals.includes(error.name)) throw new CliError(error.message);
    throw error;
  }
}

const refusals = ['LoginGoneError', 'PasswordOvertakenError', 'UserChangedError'];

export function noUser(reference: string): CliError {
  return new CliError(`there is no user "${reference}": "users list" shows them.`);
}

export function beingDeleted(userId: string): CliError {
  return new CliError(
    `user ${userId} is being deleted, and can no more be changed: "users delete ${userId}" completes it.`,
  );
}
