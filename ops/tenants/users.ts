import type { User } from '../../lambdas/auth/principals/user.ts';
import { CliError } from '../stage/operator.ts';
import type { UserStore } from '../stores/user-store.ts';

type Lookup = Pick<UserStore, 'findUser' | 'findUserByEmail'>;

/** Finds the user with an e-mail address or a user id. @throws {CliError} if the user does not exist. */
export async function findUser(store: Lookup, reference: string): Promise<User> {
  const user = await lookUpUser(store, reference);
  if (!user) throw noUser(reference);
  return user;
}

/** Finds the user with an e-mail address or a user id. Returns `undefined` if the user does not exist. */
export function lookUpUser(store: Lookup, reference: string): Promise<User | undefined> {
  return reference.includes('@') ? store.findUserByEmail(reference) : store.findUser(reference);
}

export function noUser(reference: string): CliError {
  return new CliError(`There is no user "${reference}". "users list" shows all users.`);
}
