import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { importedPrefix } from '../../lambdas/auth/principals/imported-hash.ts';
import {
  type Credential,
  credentialKey,
  normaliseEmail,
  parseCredential,
  parseUser,
  type Role,
  type User,
  type UserTables,
  userKey,
} from '../../lambdas/auth/principals/user.ts';
import { type Dynamo, type Item, type ItemKey, isPossibleKey } from '../../lambdas/platform/aws/dynamo.ts';
import {
  conditionOf,
  type Expression,
  expression,
  updateItem,
  updateOf,
} from '../../lambdas/platform/aws/update-item.ts';
import type { Clock } from '../../lambdas/platform/clock.ts';
import type { MakeId } from '../../lambdas/platform/identifiers.ts';
import { CliError } from '../stage/operator.ts';
import { type PageRequest, scanTable } from './scan.ts';
import { type Operation, transact } from './transact.ts';

/** The operations on users that operators can perform. */
export type UserStore = ReturnType<typeof makeUserStore>;

/**
 * Creates the store for the tables `Users` (partition key `userId`) and `Credentials` (partition key `email`, which ensures
 * that e-mail addresses are unique). A transaction writes a user and their credential. Changes also apply immediately to issued
 * tokens. Operations on a user that does not exist return `undefined`.
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
  return {
    createUser,
    importUser,
    findUser,
    findUserByEmail,
    listUsers,
    setUserStatus,
    setUserRole,
    setUserPassword,
    endUserSessions,
    setUserEmail,
    deleteUser,
  };

  /** Creates a user. @throws {CliError} if another user has the address. */
  async function createUser({ password, ...described }: NewUser): Promise<User> {
    const user = await addUser({ ...described, passwordHash: await hash(password) });
    if (!user) throw emailTaken(normaliseEmail(described.email));
    return user;
  }

  /** Creates a user with a password hash from another system, unless the address is taken, and calls `onCreated`. */
  async function importUser(
    imported: ImportedUser,
    onCreated: (user: User) => void = () => {},
  ): Promise<'created' | 'existing' | 'conflicting'> {
    const passwordHash = `${importedPrefix}${imported.passwordHash}`;
    for (let tries = 0; tries < maxTries; tries++) {
      const owner = await findUserByEmail(imported.email); // a repeated import does not write
      if (owner) return owner.accountId === imported.accountId ? 'existing' : 'conflicting';
      const user = await addUser({ ...imported, passwordHash });
      if (!user) continue;
      onCreated(user);
      return 'created';
    }
    throw userChanged();
  }

  /** Creates a user. Returns `undefined` if the address is taken, or if another command is adding it now. */
  async function addUser({ email: address, passwordHash, accountId, role }: ImportedUser): Promise<User | undefined> {
    const email = normaliseEmail(address);
    const time = now();
    const user: User = {
      userId: makeId(22),
      email,
      credentialVersion: 1,
      version: 1,
      accountId,
      role,
      status: 'enabled',
      createdAt: time,
      updatedAt: time,
    };
    const { userId, credentialVersion } = user;
    const isAdded = await write(
      { Put: { TableName: tables.users, Item: user } }, // unconditional, because the id is random
      putNew({ email, userId, passwordHash, credentialVersion }),
    );
    return isAdded ? user : undefined;
  }

  async function findUser(userId: string): Promise<User | undefined> {
    return parseUser(await read(userKey(tables.users, userId)));
  }

  async function findUserByEmail(email: string): Promise<User | undefined> {
    const credential = await findCredential(normaliseEmail(email));
    return credential && findUser(credential.userId);
  }

  async function findCredential(email: string): Promise<Credential | undefined> {
    return parseCredential(await read(credentialKey(tables.credentials, email)));
  }

  async function read({ table, key }: ItemKey): Promise<Item | undefined> {
    if (!isPossibleKey(key)) return undefined;
    return (await dynamo(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item;
  }

  /** Lists all users, or the users of an account, sorted by e-mail address. Pages are in table order. */
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

  /** Enables or disables a user. Disabling permanently ends every session of the user. */
  function setUserStatus(userId: string, status: User['status']): Promise<User | undefined> {
    return updateUser(userId, { status, ...(status === 'disabled' && endedSessions) });
  }

  function setUserRole(userId: string, role: Role): Promise<User | undefined> {
    return updateUser(userId, { role });
  }

  function endUserSessions(userId: string): Promise<User | undefined> {
    return updateUser(userId, endedSessions);
  }

  /** Sets a password and ends every session of the user. @throws {CliError} if the user was changed at the same time. */
  async function setUserPassword(userId: string, password: string): Promise<User | undefined> {
    const user = await findUser(userId);
    if (!user) return undefined;
    const passwordHash = await hash(password);
    const [credentialVersion, version] = [user.credentialVersion + 1, user.version + 1];
    const changes = { credentialVersion, version, updatedAt: now() };
    const isSet = await write(updateUnchanged(user, changes), {
      Update: updateOf(credentialKey(tables.credentials, user.email), {
        set: { passwordHash, credentialVersion },
        when: isOf(user),
      }),
    });
    if (!isSet) throw userChanged();
    return { ...user, ...changes };
  }

  /** Sets the address. @throws {CliError} if the address is taken, or the user was changed at the same time. */
  async function setUserEmail(userId: string, address: string): Promise<User | undefined> {
    const email = normaliseEmail(address);
    const user = await findUser(userId);
    if (!user || user.email === email) return user;
    const credential = await findCredential(user.email);
    if (!credential) throw userChanged();
    const changes = { email, updatedAt: now() };
    const isMoved = await write(
      updateUnchanged(user, changes),
      deleteCredential(user),
      putNew({ ...credential, email }),
    );
    if (isMoved) return { ...user, ...changes };
    throw (await findCredential(email)) ? emailTaken(email) : userChanged();
  }

  /** Deletes a disabled user and their credential. @throws {CliError} if the user was changed at the same time. */
  async function deleteUser(user: User): Promise<void> {
    const { table, key } = userKey(tables.users, user.userId);
    const credential = await findCredential(user.email);
    const hasCredential = credential?.userId === user.userId; // it may be missing in restored tables
    const isDeleted = await write(
      { Delete: { TableName: table, Key: key, ...conditionOf(isUnchanged(user)) } },
      ...(hasCredential ? [deleteCredential(user)] : []),
    );
    if (!isDeleted) throw userChanged();
  }

  function write(...operations: readonly Operation[]): Promise<boolean> {
    return transact(dynamo, makeId(22), operations);
  }

  function putNew(credential: Credential): Operation {
    const ConditionExpression = 'attribute_not_exists(email)';
    return { Put: { TableName: tables.credentials, Item: credential, ConditionExpression } };
  }

  function deleteCredential(user: User): Operation {
    const { table, key } = credentialKey(tables.credentials, user.email);
    return { Delete: { TableName: table, Key: key, ...conditionOf(isOf(user)) } };
  }

  function updateUnchanged(user: User, set: Partial<User>): Operation {
    return { Update: updateOf(userKey(tables.users, user.userId), { set, when: isUnchanged(user) }) };
  }

  /** Changes a user but not their credential. Returns the changed user, or `undefined` if the user does not exist. */
  async function updateUser(userId: string, changes: Changes): Promise<User | undefined> {
    const itemKey = userKey(tables.users, userId);
    if (!isPossibleKey(itemKey.key)) return undefined;
    const updated = await updateItem(dynamo, itemKey, {
      set: { ...changes, updatedAt: now() },
      when: expression`attribute_exists(userId)`,
      returns: 'ALL_NEW',
    });
    return parseUser(updated);
  }
}

export interface UserPageRequest extends PageRequest {
  /** Lists only users of this account, which reads the whole table. */
  readonly account?: string;
  /** Receives the number of users read so far. */
  readonly onPage?: (read: number) => void;
}

interface NewUser {
  readonly email: string;
  readonly password: string;
  readonly accountId: string;
  readonly role: Role;
}

/** A new user with a password hash from another system. */
export interface ImportedUser extends Omit<NewUser, 'password'> {
  readonly passwordHash: string;
}

/** New attribute values. */
type Changes = { readonly [Name in keyof User]?: User[Name] | Expression };

/** The change that ends every session of a user. */
const endedSessions = { version: expression`version + ${1}` };

/** Returns the condition that no other command has changed the user's address or status, or ended the user's sessions. */
function isUnchanged({ email, version, status }: User): Expression {
  return expression`email = ${email} AND version = ${version} AND status = ${status}`;
}

/** Returns the condition that a credential belongs to the user. */
function isOf({ userId }: User): Expression {
  return expression`userId = ${userId}`;
}

function emailTaken(email: string): CliError {
  return new CliError(`A user with the e-mail address ${email} already exists. "users show ${email}" shows it.`);
}

function userChanged(): CliError {
  return new CliError('Another command changed the user at the same time. Run the command again.');
}

/** The maximum number of tries for an import if another command changes the address at the same time. */
const maxTries = 5;
