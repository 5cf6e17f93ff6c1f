import type { Role, User } from '../../lambdas/auth/principals/user.ts';
import type { UserPageRequest, UserStore } from '../../lambdas/auth/principals/user-store.ts';
import { reads, writes } from './audit.ts';
import { CliError } from './operator.ts';
import { choosePassword, type PasswordOptions } from './passwords.ts';
import { openLockout, openSessions, openUsers } from './stores.ts';
import type { Target, Task } from './target.ts';

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
  const { password, isGenerated } = await choosePassword(options, minimumLength(target), askPassword);
  const user = await unlessTaken(email, store.createUser({ email, password, accountId: account, role }));
  return isGenerated ? { user, generatedPassword: password } : { user };
}

async function listUsers({ target, progress }: Task, page: Omit<UserPageRequest, 'onPage'>): Promise<readonly User[]> {
  return openUsers(target).listUsers({ ...page, onPage: read => progress(`Read ${read} users so far`) });
}

async function showUser({ target }: Task, reference: string): Promise<User> {
  return findUser(openUsers(target), reference);
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
async function unlockUser({ target }: Task, reference: string): Promise<User> {
  const user = await findUser(openUsers(target), reference);
  await unlock(target, user.email);
  return user;
}

/**
 * Deletes a user with their password, sessions and address. It may be repeated after it ended half-way: the user goes
 * first, and the address leads to what is left.
 */
async function deleteUser({ target, confirm, progress }: Task, reference: string): Promise<DeletedUser> {
  const [store, sessions] = [openUsers(target), openSessions(target)];
  const userId = await ownerOf(store, reference);
  const user = await store.findUser(userId);
  const isByEmail = reference.includes('@');
  if (user ? isByEmail && !(await store.findUserByEmail(reference)) : !isByEmail) throw noUser(reference);
  const emails = [...new Set([user?.email, user?.formerEmail, ...(isByEmail ? [reference] : [])])].filter(
    email => email !== undefined,
  );
  await confirm(`This deletes user ${emails[0]} of ${target.label}, with their password and sessions.`);
  await store.deleteUser(userId);
  await sessions.deleteSessions(userId, countDeleted(progress, 'sessions'));
  for (const email of emails) {
    await store.releaseEmail(userId, email);
    await unlock(target, email);
  }
  return { userId, email: emails[0] };
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
  const { password, isGenerated } = await choosePassword(options, minimumLength(target), askPassword);
  const user = await store.setUserPassword(userId, password);
  if (!user) throw noUser(reference);
  await unlock(target, user.email);
  return isGenerated ? { user, generatedPassword: password } : { user };
}

/** It may be repeated after it ended half-way. @throws {CliError} where the address is taken. */
async function setEmail({ target }: Task, reference: string, email: string): Promise<User> {
  const store = openUsers(target);
  const userId = await ownerOf(store, reference);
  const known = await store.findUser(userId);
  if (!known || (reference.includes('@') && known.formerEmail === undefined)) await findUser(store, reference);
  const user = await unlessTaken(email, store.setUserEmail(userId, email));
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
  const changed = await apply(store, await findUser(store, reference));
  if (!changed) throw noUser(reference);
  return changed;
}

/** Forgets the failed logins with an address, at all clients. */
async function unlock(target: Target, email: string): Promise<void> {
  return openLockout(target).unlock(email);
}

/** Returns the id that a reference names, also of a user whose change or deletion ended half-way. @throws {CliError} */
async function ownerOf(store: UserStore, reference: string): Promise<string> {
  const userId = reference.includes('@') ? await store.findOwner(reference) : reference;
  if (userId === undefined) throw noUser(reference);
  return userId;
}
