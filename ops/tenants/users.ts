import { emailsOf, normaliseEmail, type Role, type User } from '../../lambdas/auth/principals/user.ts';
import type { UserPageRequest, UserStore } from '../../lambdas/auth/principals/user-store.ts';
import type { FailuresByClient } from '../../lambdas/auth/protection/lockout.ts';
import { reads, writes } from '../audit/audit.ts';
import { CliError, describeError, type Part } from '../stage/operator.ts';
import { openClients, openLockout, openSessions, openUsers } from '../stage/stores.ts';
import type { Target, Task } from '../stage/target.ts';
import { eraseLogin, eraseUser } from './erase-user.ts';
import { choosePassword, type PasswordOptions } from './passwords.ts';

/** The operators' actions on users. */
export const actions = {
  createUser: writes('users create', createUser, {
    before: (_task, { account }) => ({ account }),
    change: ({ role }) => ({ role }),
    after: ({ user }) => ({ user: user.userId }),
  }),
  listUsers: reads(listUsers),
  showUser: reads(showUser),
  enableUser: writes('users enable', enableUser, { before: known }),
  disableUser: writes('users disable', disableUser, { before: known }),
  setRole: writes('users set-role', setRole, { before: known, change: (_reference, role) => ({ role }) }),
  unlockUser: writes('users unlock', unlockUser, { before: known }),
  deleteUser: writes('users delete', deleteUser, { before: known }),
  setPassword: writes('users set-password', setPassword, { before: known }),
  setEmail: writes('users set-email', setEmail, { before: known }),
};

// A reference to a user is an e-mail address or a user id. All actions throw a CliError where it leads to nobody.

/** The options of a user that does not exist yet. */
export interface NewUser extends PasswordOptions {
  readonly email: string;
  readonly account: string;
  readonly role: Role;
}

/** A user whose password was set, with the password where nobody knows it yet. */
export interface UserWithPassword {
  readonly user: User;
  readonly generatedPassword?: string;
}

/** A user, with the failed logins that still count. */
export interface UserWithFailures {
  readonly user: User;
  readonly failedLogins: Part<FailuresByClient>;
}

/** A user whose failed logins were forgotten, where there were any. */
export interface UnlockedUser {
  readonly user: User;
  readonly hadFailures: boolean;
}

/** A user that was deleted, with the address that is free now. */
export interface DeletedUser {
  readonly userId: string;
  readonly email: string | undefined;
}

/** Finds the user that an e-mail address or id names. @throws {CliError} */
export async function findUser(
  store: Pick<UserStore, 'findUser' | 'findUserByEmail'>,
  reference: string,
): Promise<User> {
  const user = reference.includes('@') ? await store.findUserByEmail(reference) : await store.findUser(reference);
  if (!user) throw noUser(reference);
  return user;
}

/** @throws {CliError} where the address is taken, or the password is not good enough. */
async function createUser(
  { target, askPassword }: Task,
  { email, account, role, ...options }: NewUser,
): Promise<UserWithPassword> {
  const store = openUsers(target);
  if (await store.findUserByEmail(email)) {
    throw new CliError(`a user with the e-mail address ${email} exists already: "users show ${email}" shows them.`);
  }
  const { password, isGenerated } = await choosePassword(options, minimumLength(target), {
    askPassword,
    makeId: target.makeId,
  });
  const user = await unlessTaken(email, store.createUser({ email, password, accountId: account, role }));
  return isGenerated ? { user, generatedPassword: password } : { user };
}

async function listUsers({ target, progress }: Task, page: Omit<UserPageRequest, 'onPage'>): Promise<readonly User[]> {
  return openUsers(target).listUsers({ ...page, onPage: read => progress(`Read ${read} users so far`) });
}

async function showUser({ target }: Task, reference: string): Promise<UserWithFailures> {
  const user = await findUser(openUsers(target), reference);
  return { user, failedLogins: await readFailures(target, user) };
}

/** They need the MAC key, which a colleague who may look at users may not be allowed to use. */
async function readFailures(target: Target, { email }: User): Promise<Part<FailuresByClient>> {
  try {
    const clients = await openClients(target).listClients();
    return await openLockout(target).findFailures(
      email,
      clients.map(({ clientId }) => clientId),
    );
  } catch (error) {
    return { unread: describeError(error, target.unreachable) };
  }
}

async function enableUser({ target }: Task, reference: string): Promise<User> {
  return change(target, reference, (store, { userId }) => store.setUserStatus(userId, 'enabled'));
}

/** @throws {CliError} where there is no such user, or nobody confirmed. */
async function disableUser({ target, confirm }: Task, reference: string): Promise<User> {
  const { email } = await findUser(openUsers(target), reference);
  await confirm(`This shuts user ${email} of ${target.label} out and ends their sessions for good.`);
  return change(target, reference, (store, { userId }) => store.setUserStatus(userId, 'disabled'));
}

async function setRole({ target }: Task, reference: string, role: Role): Promise<User> {
  return change(target, reference, (store, { userId }) => store.setUserRole(userId, role));
}

/** Forgets the failed logins of a user. */
async function unlockUser({ target }: Task, reference: string): Promise<UnlockedUser> {
  const user = await findUser(openUsers(target), reference);
  if (user.status === 'deleting') throw beingDeleted(user.userId);
  return { user, hadFailures: await openLockout(target).unlock(user.email) };
}

/**
 * Deletes a user with their password, sessions and addresses. Whatever it was killed at, it goes on by the user's id, and by their
 * address until the credential is gone. By its address it also deletes what the creation of a user left that was killed.
 */
async function deleteUser({ target, confirm, progress }: Task, reference: string): Promise<DeletedUser> {
  const users = openUsers(target);
  const data = { users, sessions: openSessions(target), lockout: openLockout(target) };
  const userId = await ownerOf(users, reference);
  const user = await users.findUser(userId);
  const isByEmail = reference.includes('@');
  if (user ? isByEmail && !isNamedBy(user, reference) : !isByEmail) throw noUser(reference);
  const email = user?.email ?? reference;
  await confirm(`This deletes user ${email} of ${target.label}, with their password and sessions.`);
  const tell = countDeleted(progress, 'sessions');
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

/** Returns what tells how many were deleted so far. */
export function countDeleted(progress: Task['progress'], what: string): (count: number) => void {
  let deleted = 0;
  return function tellDeleted(count) {
    deleted += count;
    progress(`${deleted} ${what} deleted`);
  };
}

/** Sets a password, which ends the user's sessions, and forgets their failed logins. */
async function setPassword(
  { target, askPassword }: Task,
  reference: string,
  options: PasswordOptions,
): Promise<UserWithPassword> {
  const store = openUsers(target);
  const { userId } = await findUser(store, reference);
  const { password, isGenerated } = await choosePassword(options, minimumLength(target), {
    askPassword,
    makeId: target.makeId,
  });
  const user = await unlessRefused(userId, store.setUserPassword(userId, password));
  if (!user) throw noUser(reference);
  await openLockout(target).unlock(user.email);
  return isGenerated ? { user, generatedPassword: password } : { user };
}

/** It may be repeated after it ended half-way. @throws {CliError} where the address is taken. */
async function setEmail({ target }: Task, reference: string, email: string): Promise<User> {
  const store = openUsers(target);
  const userId = await ownerOf(store, reference);
  const known = await store.findUser(userId);
  if (!known || (reference.includes('@') && known.formerEmail === undefined)) await findUser(store, reference);
  const user = await unlessTaken(email, unlessRefused(userId, store.setUserEmail(userId, email)));
  if (!user) throw noUser(reference);
  return user;
}

/** Names the user for the audit trail by id, where there is one. */
async function known({ target }: Pick<Task, 'target'>, reference: string) {
  const store = openUsers(target);
  return {
    user: reference.includes('@') ? await store.findOwner(reference) : (await store.findUser(reference))?.userId,
  };
}

function noUser(reference: string) {
  return new CliError(`there is no user "${reference}": "users list" shows them.`);
}

/** Returns the stage's minimum length of passwords; a stage that was deployed before it had one has the default. */
function minimumLength({ outputs }: Target): number {
  return Number(outputs.PasswordMinimumLength ?? 15);
}

async function unlessTaken<Answer>(email: string, change: Promise<Answer>): Promise<Answer> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof Error && error.name === 'EmailTakenError')) throw error;
    throw new CliError(
      `a user with the e-mail address ${email} exists already, or is being made: "users show ${email}" tells, or try again in a minute.`,
    );
  }
}

/** Finds a user and changes them; a user deleted in between counts as not found. */
async function change(
  target: Target,
  reference: string,
  apply: (store: UserStore, user: User) => Promise<User | undefined>,
): Promise<User> {
  const store = openUsers(target);
  const user = await findUser(store, reference);
  const changed = await unlessRefused(user.userId, apply(store, user));
  if (!changed) throw noUser(reference);
  return changed;
}

/** Returns the store's answer. @throws {CliError} where the user is being deleted, or has no credential to log in with. */
export async function unlessRefused<Answer>(userId: string, change: Promise<Answer>): Promise<Answer> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error.name === 'UserBeingDeletedError') throw beingDeleted(userId);
    if (error.name === 'LoginGoneError') throw new CliError(error.message);
    throw error;
  }
}

function beingDeleted(userId: string): CliError {
  return new CliError(
    `user ${userId} is being deleted, and can no more be changed: "users delete ${userId}" completes it.`,
  );
}

/** Returns the id that a reference names, also of a user whose change or deletion ended half-way. @throws {CliError} */
async function ownerOf(store: UserStore, reference: string): Promise<string> {
  const userId = reference.includes('@') ? await store.findOwner(reference) : reference;
  if (userId === undefined) throw noUser(reference);
  return userId;
}
