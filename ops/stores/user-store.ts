import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { makeCredentialStore } from '../../lambdas/auth/principals/credential-store.ts';
import { importedPrefix } from '../../lambdas/auth/principals/imported-hash.ts';
import {
  type Credential,
  normaliseEmail,
  parseUser,
  type Role,
  type User,
  type UserTables,
  userKey,
} from '../../lambdas/auth/principals/user.ts';
import { type Dynamo, isPossibleKey } from '../../lambdas/platform/aws/dynamo.ts';
import { type Expression, expression, updateItem } from '../../lambdas/platform/aws/update-item.ts';
import type { Clock } from '../../lambdas/platform/clock.ts';
import type { MakeId } from '../../lambdas/platform/identifiers.ts';
import { type PageRequest, scanTable } from './scan.ts';
import { endedSessions, makeUserDeletion } from './user-deletion.ts';

/** The operations on users, for operators. */
export type UserStore = ReturnType<typeof makeUserStore>;

/**
 * Makes the store of tables `Users` (partition `userId`) and `Credentials` (partition `email`, which makes e-mail addresses
 * unique). A credential is valid only if its user has its e-mail address. It is written before the user gets the address,
 * and deleted after the user has lost it, so that a change may crash anywhere: a credential that was left behind goes to
 * the next user who claims its address. A command that is so slow that another takes the claim over finds that out afterwards, and gives up.
 *
 * Changes hold at once, also for tokens that are issued already. They return `undefined` when there is no such user.
 */
export function makeUserStore({
  dynamo,
  tables,
  now,
  makeId,
  hash,
}: {
  readonly dynamo: Dynamo;
  readonly tables: UserTables;
  readonly now: Clock;
  readonly makeId: MakeId;
  /** Hashes passwords for storage. */
  readonly hash: (password: string) => Promise<string>;
}) {
  const { findCredential, addCredential, takeOverCredential, setPasswordHash, deleteCredential } = makeCredentialStore({
    dynamo,
    table: tables.credentials,
    now,
  });
  const deletion = makeUserDeletion({ dynamo, tables, now, findUser, deleteCredential });
  const { releaseEmail, deleteUser } = deletion;
  return {
    createUser,
    importUser,
    findUser,
    findUserByEmail,
    findOwner,
    listUsers,
    setUserStatus,
    setUserRole,
    setUserPassword,
    endUserSessions,
    setUserEmail,
    ...deletion,
  };

  /** @throws {EmailTakenError} */
  async function createUser({ password, ...described }: NewUser): Promise<User> {
    return addUser({ ...described, passwordHash: await hash(password) });
  }

  /**
   * Creates a user with the password hash that another system made, unless somebody has the e-mail address. May be repeated after it
   * ended half-way; `being_made` for as long as the address is claimed by somebody who may not be done yet. `beingDeleted` names the user
   * of that address whose deletion has begun. `onCreated` is called with the user.
   */
  async function importUser(
    imported: ImportedUser,
    onCreated: (user: User) => void = () => {},
  ): Promise<'created' | 'existing' | 'taken' | 'being_made' | { readonly beingDeleted: string }> {
    const owner = await findUserByEmail(imported.email); // first: a second run of an import writes nothing
    if (owner?.status === 'deleting') return { beingDeleted: owner.userId };
    if (owner) return owner.accountId === imported.accountId ? 'existing' : 'taken';
    try {
      onCreated(await addUser({ ...imported, passwordHash: `${importedPrefix}${imported.passwordHash}` }));
      return 'created';
    } catch (error) {
      if (!(error instanceof EmailTakenError)) throw error;
      return 'being_made';
    }
  }

  /** @throws {EmailTakenError} */
  async function addUser({ email: given, passwordHash, accountId, role }: ImportedUser): Promise<User> {
    const email = normaliseEmail(given);
    const moment = now();
    const [userId, credentialVersion] = [makeId(22), 1];
    await claimEmail({ email, userId, accountId, passwordHash, credentialVersion, createdAt: moment });
    const user: User = {
      userId,
      email,
      credentialVersion,
      version: 1,
      accountId,
      role,
      status: 'enabled',
      createdAt: moment,
      updatedAt: moment,
    };
    await dynamo(new PutCommand({ TableName: tables.users, Item: user })); // unconditional: the id is random
    if (await ownsLogin(user)) return user;
    await deleteUser(userId);
    throw new EmailTakenError();
  }

  /** Looks at the login of a user's address: another user may have taken the claim over before this one had the address. */
  async function ownsLogin({ userId, email }: Pick<User, 'userId' | 'email'>): Promise<boolean> {
    return (await findCredential(email))?.userId === userId;
  }

  /**
   * Makes sure that the e-mail address has this credential.
   *
   * @throws {EmailTakenError} when a user has the address, or claimed it a moment ago and may not be done yet.
   */
  async function claimEmail(credential: Credential): Promise<void> {
    if (await addCredential(credential)) return;
    const left = await findCredential(credential.email);
    if (left?.userId === credential.userId) {
      await setPasswordHash(credential);
      return;
    }
    const hasAddress = async (userId: string) => (await findUser(userId))?.email === credential.email;
    const isFree =
      left !== undefined &&
      left.createdAt + longestChange <= now() &&
      !(await hasAddress(left.userId)) &&
      (await takeOverCredential(left, credential));
    if (!isFree) throw new EmailTakenError();
    if (!(await hasAddress(left.userId))) return;
    await takeOverCredential(credential, left); // its user got the address meanwhile, and has seen no other login
    throw new EmailTakenError();
  }

  async function findUser(userId: string): Promise<User | undefined> {
    const { table, key } = userKey(tables.users, userId);
    if (!isPossibleKey(key)) return undefined;
    return parseUser((await dynamo(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item);
  }

  async function findUserByEmail(given: string): Promise<User | undefined> {
    const email = normaliseEmail(given);
    const credential = await findCredential(email);
    const user = credential && (await findUser(credential.userId));
    return user?.email === email ? user : undefined;
  }

  /** Returns the user id in the credential of an e-mail address, even if that user is gone or has another address by now. */
  async function findOwner(email: string): Promise<string | undefined> {
    return (await findCredential(normaliseEmail(email)))?.userId;
  }

  /** Lists all users, or those of an account, by e-mail address; a page in the order of the table. */
  async function listUsers({ account, onPage, ...page }: UserPageRequest = {}): Promise<User[]> {
    const users = await scanTable(dynamo, {
      table: tables.users,
      partitionKey: 'userId',
      parse: parseUser,
      where: account === undefined ? undefined : { accountId: account },
      onPage,
      ...page,
    });
    if (page.limit !== undefined || page.after !== undefined) return users;
    return users.sort((one, other) => one.email.localeCompare(other.email));
  }

  /** Enables or disables a user. Disabling ends every session of the user, for good. */
  function setUserStatus(userId: string, status: 'enabled' | 'disabled'): Promise<User | undefined> {
    return updateUser(userId, { status, ...(status === 'disabled' && endedSessions) });
  }

  function setUserRole(userId: string, role: Role): Promise<User | undefined> {
    return updateUser(userId, { role });
  }

  /** Sets a password, which ends every session of the user. @throws {LoginGoneError} @throws {PasswordOvertakenError} */
  async function setUserPassword(userId: string, password: string): Promise<User | undefined> {
    const passwordHash = await hash(password);
    // the user first: after a crash every session has ended, and no password is valid until it is set again
    const user = await updateUser(userId, {
      credentialVersion: expression`credentialVersion + ${1}`,
      ...endedSessions,
    });
    if (!user) return undefined;
    const { email, credentialVersion } = user;
    const isSet = await setPasswordHash({ email, userId, passwordHash, credentialVersion });
    if (!isSet && (await findCredential(email))?.userId !== userId) throw new LoginGoneError();
    const latest = await findUser(userId);
    if (latest && latest.credentialVersion > credentialVersion) throw new PasswordOvertakenError();
    return user;
  }

  function endUserSessions(userId: string): Promise<User | undefined> {
    return updateUser(userId, endedSessions);
  }

  /**
   * Ends no session. May be repeated after a crash.
   *
   * @throws {EmailTakenError}
   * @throws {LoginGoneError}
   * @throws {PasswordHalfSetError}
   * @throws {UserChangedError}
   */
  async function setUserEmail(userId: string, given: string): Promise<User | undefined> {
    const email = normaliseEmail(given);
    try {
      const user = await moveLogin(userId, email);
      if (!user) await releaseEmail(userId, email); // the deletion may have come before the address was claimed
      return user;
    } catch (error) {
      if (error instanceof UserBeingDeletedError) await releaseEmail(userId, email);
      throw error;
    }
  }

  async function moveLogin(userId: string, email: string): Promise<User | undefined> {
    for (let tries = 0; tries < maxTries; tries++) {
      const found = await findUser(userId);
      const user = found && (await releaseOtherEmails(found, email));
      if (!user || user.email === email) return user;
      const current = await findCredential(user.email);
      if (current?.userId !== userId) throw new LoginGoneError();
      if (current.credentialVersion < user.credentialVersion) throw new PasswordHalfSetError();
      if (await findUserByEmail(email)) throw new EmailTakenError(); // before anything is written
      // the user first: a deletion finds by it a credential that is made and not used
      if (!(await updateUser(userId, { claimedEmail: email }, expression`email = ${user.email}`))) continue;
      await claimEmail({ ...current, accountId: user.accountId, email, createdAt: now() });
      const changed = await updateUser(
        userId,
        { email, formerEmail: user.email, claimedEmail: undefined },
        // otherwise the new credential has an old password, or was given up
        expression`email = ${user.email} AND claimedEmail = ${email} AND credentialVersion = ${current.credentialVersion}`,
      );
      if (!changed) continue;
      const completed = await completeEmailChange(changed);
      if (completed && completed.email !== email) throw new EmailTakenError();
      return completed;
    }
    throw new UserChangedError();
  }

  /** Releases what a change of the e-mail address that crashed left: the former address, or another one that was claimed. */
  async function releaseOtherEmails(user: User, wanted: string): Promise<User | undefined> {
    const completed = await completeEmailChange(user);
    const claimedEmail = completed?.claimedEmail;
    if (completed === undefined || claimedEmail === undefined || claimedEmail === wanted) return completed;
    if (!(await ownsLogin(completed))) throw new LoginGoneError();
    const givenUp = await updateUser(
      user.userId,
      { claimedEmail: undefined, formerEmail: claimedEmail }, // the change that claimed it can no more be completed
      expression`claimedEmail = ${claimedEmail}`,
    );
    return givenUp ? completeEmailChange(givenUp) : findUser(user.userId);
  }

  /** The last steps of a change of the e-mail address: releases the former one, or returns to it where the new login is another user's. */
  async function completeEmailChange(user: User): Promise<User | undefined> {
    const { userId, email, formerEmail } = user;
    if (formerEmail === undefined) return user;
    const unchanged = expression`email = ${email} AND formerEmail = ${formerEmail}`;
    const isOwn = await ownsLogin(user);
    if (isOwn) await releaseEmail(userId, formerEmail);
    const changes = isOwn ? { formerEmail: undefined } : { email: formerEmail, formerEmail: undefined };
    return (await updateUser(userId, changes, unchanged)) ?? findUser(userId);
  }

  /**
   * Returns the user as they are after the update; `undefined` when there is none, or the condition does not hold.
   *
   * @throws {UserBeingDeletedError}
   */
  async function updateUser(userId: string, changes: Changes, condition?: Expression): Promise<User | undefined> {
    const itemKey = userKey(tables.users, userId);
    if (!isPossibleKey(itemKey.key)) return undefined;
    const isKept = expression`attribute_exists(userId) AND status <> ${'deleting'}`;
    const updated = await updateItem(dynamo, itemKey, {
      set: { ...changes, updatedAt: now() },
      when: condition ? expression`${isKept} AND ${condition}` : isKept,
      returns: 'ALL_NEW',
    });
    if (!updated && (await findUser(userId))?.status === 'deleting') throw new UserBeingDeletedError();
    return parseUser(updated);
  }
}

export interface UserPageRequest extends PageRequest {
  /** Those of this account only. The whole table is read for them. */
  readonly account?: string;
  /** Is told how many were read so far. */
  readonly onPage?: (read: number) => void;
}

interface NewUser {
  readonly email: string;
  readonly password: string;
  readonly accountId: string;
  readonly role: Role;
}

/** A new user with a password hash that another system made. */
export interface ImportedUser extends Omit<NewUser, 'password'> {
  readonly passwordHash: string;
}

/** A credential whose user has another e-mail address was left behind if it is older than any change takes; milliseconds. */
const longestChange = 60_000;

/** Thrown when a user with that e-mail address exists already, or is being created. */
class EmailTakenError extends Error {
  override readonly name = 'EmailTakenError';
  constructor() {
    super('A user with this e-mail address exists already, or is being made at this moment.');
  }
}

/** Thrown when a user has no credential to log in with, or it is another user's. */
class LoginGoneError extends Error {
  override readonly name = 'LoginGoneError';
  constructor() {
    super('The login of this user is gone: delete the user and create them again.');
  }
}

/** Thrown when a newer password was set meanwhile: this one is not in force. */
class PasswordOvertakenError extends Error {
  override readonly name = 'PasswordOvertakenError';
  constructor() {
    super('Somebody set another password for this user at the same moment: this one is not in force.');
  }
}

/** Thrown when the user has another version of the password than the login: a change of it ended half-way, or is under way. */
class PasswordHalfSetError extends Error {
  override readonly name = 'PasswordHalfSetError';
  constructor() {
    super('No password of this user is in force, since a change of it ended half-way: set one first.');
  }
}

/** Thrown when other changes came between at each try. */
class UserChangedError extends Error {
  override readonly name = 'UserChangedError';
  constructor() {
    super('The user was changed by somebody else at the same moment: look at the user, then try again.');
  }
}

/** Thrown when a user is to be changed whose deletion has begun. */
class UserBeingDeletedError extends Error {
  override readonly name = 'UserBeingDeletedError';
  constructor() {
    super('This user is being deleted, and can no more be changed: repeat the deletion to complete it.');
  }
}

/** New values of attributes; `undefined` removes. */
type Changes = { readonly [Name in keyof User]?: User[Name] | Expression | undefined };

/** A change of the e-mail address starts again this often when the password is changed at the same moment. */
const maxTries = 3;
