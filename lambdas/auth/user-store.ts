import { type DynamoDBDocumentClient, GetCommand, PutCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../platform/clock.ts';
import { type Item, type ItemAddress, isConditionFailed } from '../platform/dynamodb.ts';
import type { MakeId } from '../platform/identifiers.ts';
import { hashPassword } from './password-hash.ts';
import {
  type Login,
  loginAddress,
  normaliseEmail,
  parseLogin,
  parseUser,
  type Role,
  type User,
  userAddress,
} from './user.ts';

/** A new user as an operator describes one. */
interface NewUser {
  readonly email: string;
  readonly password: string;
  readonly accountId: string;
  readonly role: Role;
}

/** Thrown when a user with that e-mail address is there already. */
class EmailTakenError extends Error {
  override readonly name = 'EmailTakenError';
  constructor() {
    super('A user with this e-mail address exists already.');
  }
}

/** What an operator does to users, and the one thing a login writes. Changes hold at once, for tokens issued too. */
export interface UserStore {
  /** @throws {EmailTakenError} */
  createUser(description: NewUser): Promise<User>;
  findUser(userId: string): Promise<User | undefined>;
  findUserByEmail(email: string): Promise<User | undefined>;
  /** All users, by e-mail address. */
  listUsers(): Promise<User[]>;
  /** `undefined` when there is no such user; the same below. */
  setUserStatus(userId: string, status: User['status']): Promise<User | undefined>;
  setUserRole(userId: string, role: Role): Promise<User | undefined>;
  /** Also ends every session of the user. */
  setUserPassword(userId: string, password: string): Promise<User | undefined>;
  /** Stores the same password under better parameters, unless the password has changed meanwhile. Ends no session. */
  replacePasswordHash(email: string, oldHash: string, newHash: string): Promise<void>;
}

/** The tables users are kept in. */
export interface UserTables {
  readonly users: string;
  readonly logins: string;
}

/** What a user store stands on. */
export interface UserStoreDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tables: UserTables;
  readonly now: Clock;
  readonly makeId: MakeId;
}

interface Change {
  readonly set: string;
  readonly values: Item;
  /** For attributes whose names are reserved words. */
  readonly names?: Record<string, string>;
}

/**
 * Makes the store of tables `Users` (partition `userId`) and `Logins` (partition `email`, which makes the address
 * unique). A login is written before its user; one left without is adopted by the next create.
 */
export const makeUserStore = ({ documents, tables, now, makeId }: UserStoreDependencies): UserStore => {
  const read = async ({ table, key }: ItemAddress): Promise<Item | undefined> =>
    (await documents.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item;

  /** What a write answers; `undefined` when its condition does not hold. */
  const conditionally = <Answer>(write: Promise<Answer>): Promise<Answer | undefined> =>
    write.catch((error: unknown) => {
      if (isConditionFailed(error)) return undefined;
      throw error;
    });

  /** Whether the item was written: false when there is one already. */
  const putNew = async ({ table, key }: ItemAddress, item: object): Promise<boolean> => {
    const condition = `attribute_not_exists(${Object.keys(key).join()})`;
    const command = new PutCommand({ TableName: table, Item: { ...item, ...key }, ConditionExpression: condition });
    return (await conditionally(documents.send(command))) !== undefined;
  };

  const updateUser = async (userId: string, change: Change): Promise<User | undefined> => {
    const command = new UpdateCommand({
      TableName: tables.users,
      Key: userAddress(tables.users, userId).key,
      ConditionExpression: 'attribute_exists(userId)',
      UpdateExpression: `SET updatedAt = :now, ${change.set}`,
      ExpressionAttributeNames: change.names,
      ExpressionAttributeValues: { ':now': now(), ...change.values },
      ReturnValues: 'ALL_NEW',
    });
    return parseUser((await conditionally(documents.send(command)))?.Attributes);
  };

  const updateLogin = async (email: string, condition: string, set: string, values: Item): Promise<void> => {
    const command = new UpdateCommand({
      TableName: tables.logins,
      Key: loginAddress(tables.logins, email).key,
      ConditionExpression: condition,
      UpdateExpression: `SET ${set}`,
      ExpressionAttributeValues: values,
    });
    await conditionally(documents.send(command));
  };

  /** A login of the new user, under an address that no other user has. @throws {EmailTakenError} */
  const reserve = async (email: string, passwordHash: string): Promise<{ login: Login; isAdopted: boolean }> => {
    const address = loginAddress(tables.logins, email);
    const login: Login = { email, userId: makeId(22), passwordHash, credentialVersion: 1 };
    if (await putNew(address, login)) return { login, isAdopted: false };
    const left = parseLogin(await read(address));
    if (!left) throw new EmailTakenError();
    return { login: left, isAdopted: true };
  };

  const findUser = async (userId: string) => parseUser(await read(userAddress(tables.users, userId)));

  return {
    createUser: async ({ email: given, password, accountId, role }) => {
      const email = normaliseEmail(given);
      const passwordHash = await hashPassword(password);
      const { login, isAdopted } = await reserve(email, passwordHash);
      const { userId, credentialVersion } = login;
      const moment = now();
      const user: User = {
        userId,
        email,
        credentialVersion,
        accountId,
        role,
        status: 'enabled',
        createdAt: moment,
        updatedAt: moment,
      };
      if (!(await putNew(userAddress(tables.users, userId), user))) throw new EmailTakenError();
      if (isAdopted) {
        await updateLogin(email, 'passwordHash = :left', 'passwordHash = :hash', {
          ':left': login.passwordHash,
          ':hash': passwordHash,
        });
      }
      return user;
    },

    findUser,

    findUserByEmail: async email => {
      const login = parseLogin(await read(loginAddress(tables.logins, normaliseEmail(email))));
      return login && findUser(login.userId);
    },

    listUsers: async () => {
      const users: User[] = [];
      let from: Item | undefined;
      do {
        const page = await documents.send(
          new ScanCommand({ TableName: tables.users, ConsistentRead: true, ExclusiveStartKey: from }),
        );
        for (const item of page.Items ?? []) users.push(...[parseUser(item)].filter(user => user !== undefined));
        from = page.LastEvaluatedKey;
      } while (from);
      return users.sort((one, other) => one.email.localeCompare(other.email));
    },

    setUserStatus: (userId, status) =>
      updateUser(userId, { set: '#status = :status', names: { '#status': 'status' }, values: { ':status': status } }),

    setUserRole: (userId, role) =>
      updateUser(userId, { set: '#role = :role', names: { '#role': 'role' }, values: { ':role': role } }),

    setUserPassword: async (userId, password) => {
      const passwordHash = await hashPassword(password);
      // The user first: should the second write never come, every session is over and no password fits until it is set again.
      const user = await updateUser(userId, {
        set: 'credentialVersion = credentialVersion + :one',
        values: { ':one': 1 },
      });
      if (!user) return undefined;
      await updateLogin(
        user.email,
        'userId = :userId AND credentialVersion < :version',
        'passwordHash = :hash, credentialVersion = :version',
        { ':userId': userId, ':version': user.credentialVersion, ':hash': passwordHash },
      );
      return user;
    },

    replacePasswordHash: (email, oldHash, newHash) =>
      updateLogin(email, 'passwordHash = :old', 'passwordHash = :hash', { ':old': oldHash, ':hash': newHash }),
  };
};
