import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../platform/clock.ts';
import { conditionalWrite, type Item, isPossibleKey } from '../../platform/dynamo.ts';
import type { MakeId } from '../../platform/identifiers.ts';
import { makeCredentialStore } from './credential-store.ts';
import { hashPassword } from './password-hash.ts';
import { type Credential, normaliseEmail, parseUser, type Role, type User, userKey } from './user.ts';

/** Which part of a list is wanted. */
export interface PageRequest {
  readonly limit?: number;
  /** The id of the last one that is known. */
  readonly after?: string;
}

/** What an operator does to users. Changes hold at once, for tokens issued too. */
export interface UserStore {
  /** @throws {EmailTakenError} */
  createUser(description: NewUser): Promise<User>;
  findUser(userId: string): Promise<User | undefined>;
  findUserByEmail(email: string): Promise<User | undefined>;
  /** The user an address was taken for, also where they are gone or have another one by now. */
  findOwner(email: string): Promise<string | undefined>;
  /** All users by e-mail address; of a page, as the table has them. */
  listUsers(page?: PageRequest): Promise<User[]>;
  /** `undefined` when there is no such user; the same below. Disabling ends every session of the user, for good. */
  setUserStatus(userId: string, status: User['status']): Promise<User | undefined>;
  setUserRole(userId: string, role: Role): Promise<User | undefined>;
  /** Also ends every session of the user. */
  setUserPassword(userId: string, password: string): Promise<User | undefined>;
  endUserSessions(userId: string): Promise<User | undefined>;
  /** Ends no session. May be repeated after it died half-way. @throws {EmailTakenError} */
  setUserEmail(userId: string, email: string): Promise<User | undefined>;
  /** Deletes the user: every session is over with it, and nobody logs in any more. The address stays taken. */
  deleteUser(userId: string): Promise<void>;
  /** Gives up an address and deletes the password hash, unless the user is there and has that address. */
  releaseEmail(userId: string, email: string): Promise<void>;
}

/** The tables users are kept in. */
export interface UserTables {
  readonly users: string;
  readonly credentials: string;
}

/** What a user store needs. */
export interface UserStoreDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tables: UserTables;
  readonly now: Clock;
  readonly makeId: MakeId;
}

/**
 * Makes the store of tables `Users` (partition `userId`) and `Credentials` (partition `email`, which makes the address
 * unique). A login opens only if the user names its address. It is written before the user names it and deleted after
 * they have ceased to, so that every change may die anywhere: one left behind goes to the next who claims the address.
 */
export function makeUserStore({ dynamo, tables, now, makeId }: UserStoreDependencies): UserStore {
  const { findCredential, addCredential, takeOverCredential, setPasswordHash, deleteCredential } = makeCredentialStore({
    dynamo,
    tableName: tables.credentials,
    now,
  });

  const updateUser = async (userId: string, change: Change): Promise<User | undefined> => {
    const { key } = userKey(tables.users, userId);
    if (!isPossibleKey(key)) return undefined;
    const command = new UpdateCommand({
      TableName: tables.users,
      Key: key,
      ConditionExpression: ['attribute_exists(userId)', change.condition].filter(Boolean).join(' AND '),
      UpdateExpression: `SET ${['updatedAt = :now', change.set].filter(Boolean).join(', ')}${change.remove ? ` REMOVE ${change.remove}` : ''}`,
      ExpressionAttributeNames: change.names,
      ExpressionAttributeValues: { ':now': now(), ...change.values },
      ReturnValues: 'ALL_NEW',
    });
    return parseUser((await conditionalWrite(dynamo.send(command)))?.Attributes);
  };

  const findUser = async (userId: string): Promise<User | undefined> => {
    const { table, key } = userKey(tables.users, userId);
    if (!isPossibleKey(key)) return undefined;
    return parseUser((await dynamo.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item);
  };

  /**
   * Makes sure that the address leads to the user of this credential, with this password.
   *
   * @throws {EmailTakenError} where somebody has it, or took it a moment ago and may not be done yet.
   */
  const claim = async (credential: Credential): Promise<void> => {
    if (await addCredential(credential)) return;
    const left = await findCredential(credential.email);
    if (left?.userId === credential.userId) {
      await setPasswordHash(credential);
      return;
    }
    const isFree =
      left !== undefined &&
      left.createdAt + longestChange <= now() &&
      (await findUser(left.userId))?.email !== credential.email &&
      (await takeOverCredential(left, credential));
    if (!isFree) throw new EmailTakenError();
  };

  const releaseEmail = async (userId: string, given: string): Promise<void> => {
    const email = normaliseEmail(given);
    if ((await findUser(userId))?.email === email) return;
    await deleteCredential(email, userId);
  };

  /** The last step of a change of address. */
  const releaseFormerEmail = async (user: User): Promise<User | undefined> => {
    if (user.formerEmail === undefined) return user;
    await releaseEmail(user.userId, user.formerEmail);
    return updateUser(user.userId, {
      remove: 'formerEmail',
      condition: 'formerEmail = :former',
      values: { ':former': user.formerEmail },
    });
  };

  return {
    createUser: async ({ email: given, password, accountId, role }) => {
      const email = normaliseEmail(given);
      const passwordHash = await hashPassword(password);
      const moment = now();
      const [userId, credentialVersion] = [makeId(22), 1];
      await claim({ email, userId, passwordHash, credentialVersion, createdAt: moment });
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
      await dynamo.send(new PutCommand({ TableName: tables.users, Item: user })); // its id is random: nobody else has it
      return user;
    },

    findUser,

    findUserByEmail: async given => {
      const email = normaliseEmail(given);
      const credential = await findCredential(email);
      const user = credential && (await findUser(credential.userId));
      return user?.email === email ? user : undefined;
    },

    findOwner: async email => (await findCredential(normaliseEmail(email)))?.userId,

    listUsers: async ({ limit, after } = {}) => {
      const users: User[] = [];
      let from: Item | undefined = after === undefined ? undefined : { userId: after };
      do {
        const page = await dynamo.send(
          new ScanCommand({ TableName: tables.users, ConsistentRead: true, ExclusiveStartKey: from, Limit: limit }),
        );
        for (const item of page.Items ?? []) users.push(...[parseUser(item)].filter(user => user !== undefined));
        from = page.LastEvaluatedKey;
      } while (from && (limit === undefined || users.length < limit));
      if (limit !== undefined || after !== undefined) return users.slice(0, limit);
      return users.sort((one, other) => one.email.localeCompare(other.email));
    },

    setUserStatus: (userId, status) =>
      updateUser(userId, {
        set: `#status = :status${status === 'disabled' ? `, ${endsSessions}` : ''}`,
        names: { '#status': 'status' },
        values: { ':status': status, ...(status === 'disabled' ? { ':one': 1 } : {}) },
      }),

    setUserRole: (userId, role) =>
      updateUser(userId, { set: '#role = :role', names: { '#role': 'role' }, values: { ':role': role } }),

    setUserPassword: async (userId, password) => {
      const passwordHash = await hashPassword(password);
      // The user first: should the second write never come, every session is over and no password fits until it is set again.
      const user = await updateUser(userId, {
        set: `credentialVersion = credentialVersion + :one, ${endsSessions}`,
        values: { ':one': 1 },
      });
      if (!user) return undefined;
      const { email, credentialVersion } = user;
      await setPasswordHash({ email, userId, passwordHash, credentialVersion });
      return user;
    },

    endUserSessions: userId => updateUser(userId, { set: endsSessions, values: { ':one': 1 } }),

    setUserEmail: async (userId, given) => {
      const email = normaliseEmail(given);
      for (let attempt = 0; attempt < tries; attempt++) {
        const found = await findUser(userId);
        const user = found && (await releaseFormerEmail(found)); // of a change that died half-way
        if (!user || user.email === email) return user;
        const current = await findCredential(user.email);
        if (!current) throw new Error('The login of this user is gone: delete the user and create them again.');
        await claim({ ...current, email, createdAt: now() });
        const changed = await updateUser(userId, {
          set: 'email = :email, formerEmail = :old',
          condition: 'email = :old AND credentialVersion = :version', // else the login has another password by now
          values: { ':email': email, ':old': user.email, ':version': current.credentialVersion },
        });
        if (changed) return releaseFormerEmail(changed);
      }
      throw new Error('The user was changed by somebody else at the same moment: look at the user, then try again.');
    },

    deleteUser: async userId => {
      const { table, key } = userKey(tables.users, userId);
      if (isPossibleKey(key)) await dynamo.send(new DeleteCommand({ TableName: table, Key: key }));
    },

    releaseEmail,
  };
}

/** A new user as an operator describes one. */
interface NewUser {
  readonly email: string;
  readonly password: string;
  readonly accountId: string;
  readonly role: Role;
}

interface Change {
  readonly set?: string;
  readonly remove?: string;
  readonly values?: Item;
  /** For attributes whose names are reserved words. */
  readonly names?: Record<string, string>;
  /** Beyond that there is such a user. */
  readonly condition?: string;
}

/** A login that its user does not name was left behind when it is older than any change takes. */
const longestChange = 60_000;

/** Thrown when a user with that e-mail address is there already, or about to be. */
class EmailTakenError extends Error {
  override readonly name = 'EmailTakenError';
  constructor() {
    super('A user with this e-mail address exists already, or is being made at this moment.');
  }
}

/** What ends the user's sessions does so in the write of this. */
const endsSessions = 'version = if_not_exists(version, :one) + :one';

/** How often a change of address begins anew because the password was changed at the same moment. */
const tries = 3;
