import { type DynamoDBDocumentClient, GetCommand, PutCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../platform/clock.ts';
import { type Item, type ItemAddress, isConditionFailed } from '../platform/dynamodb.ts';
import type { MakeId } from '../platform/identifiers.ts';
import { hashPassword } from './password-hash.ts';
import {
  emailAddress,
  normaliseEmail,
  parseEmailPointer,
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
  replacePasswordHash(userId: string, oldHash: string, newHash: string): Promise<void>;
}

interface Change {
  readonly set: string;
  readonly values: Item;
  /** For attributes whose names are reserved words. */
  readonly names?: Record<string, string>;
  /** Default: the user is there. */
  readonly condition?: string;
}

/** What a user store stands on. */
export interface UserStoreDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly now: Clock;
  readonly makeId: MakeId;
}

/**
 * Makes the store of table `Users`: partition `pk`. `id#<userId>` is the user; `email#<address>` holds the user id and
 * makes the address unique. The pointer is written first; one left without its user is adopted by the next create.
 */
export const makeUserStore = ({ documents, tableName, now, makeId }: UserStoreDependencies): UserStore => {
  const read = async ({ key }: ItemAddress): Promise<Item | undefined> =>
    (await documents.send(new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true }))).Item;

  /** Whether the item was written: false when there is one already. */
  const putNew = async (item: Item): Promise<boolean> => {
    try {
      await documents.send(
        new PutCommand({ TableName: tableName, Item: item, ConditionExpression: 'attribute_not_exists(pk)' }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

  const update = async (userId: string, change: Change): Promise<User | undefined> => {
    try {
      const answer = await documents.send(
        new UpdateCommand({
          TableName: tableName,
          Key: userAddress(tableName, userId).key,
          ConditionExpression: change.condition ?? 'attribute_exists(pk)',
          UpdateExpression: `SET updatedAt = :now, ${change.set}`,
          ExpressionAttributeNames: change.names,
          ExpressionAttributeValues: { ':now': now(), ...change.values },
          ReturnValues: 'ALL_NEW',
        }),
      );
      return parseUser(answer.Attributes);
    } catch (error) {
      if (isConditionFailed(error)) return undefined;
      throw error;
    }
  };

  const findUser = async (userId: string) => parseUser(await read(userAddress(tableName, userId)));

  return {
    createUser: async ({ email, password, accountId, role }) => {
      const pointer = emailAddress(tableName, normaliseEmail(email));
      const passwordHash = await hashPassword(password);
      const freshId = makeId(22);
      const isNew = await putNew({ ...pointer.key, userId: freshId });
      const userId = isNew ? freshId : parseEmailPointer(await read(pointer));
      if (userId === undefined) throw new EmailTakenError();
      const moment = now();
      const user: User = {
        userId,
        email: normaliseEmail(email),
        passwordHash,
        credentialVersion: 1,
        accountId,
        role,
        status: 'enabled',
        createdAt: moment,
        updatedAt: moment,
      };
      if (!(await putNew({ ...userAddress(tableName, userId).key, ...user }))) throw new EmailTakenError();
      return user;
    },

    findUser,

    findUserByEmail: async email => {
      const userId = parseEmailPointer(await read(emailAddress(tableName, normaliseEmail(email))));
      return userId === undefined ? undefined : findUser(userId);
    },

    listUsers: async () => {
      const users: User[] = [];
      let from: Item | undefined;
      do {
        const page = await documents.send(
          new ScanCommand({
            TableName: tableName,
            ConsistentRead: true,
            ExclusiveStartKey: from,
            FilterExpression: 'begins_with(pk, :record)',
            ExpressionAttributeValues: { ':record': 'id#' },
          }),
        );
        for (const item of page.Items ?? []) users.push(...[parseUser(item)].filter(user => user !== undefined));
        from = page.LastEvaluatedKey;
      } while (from);
      return users.sort((one, other) => one.email.localeCompare(other.email));
    },

    setUserStatus: (userId, status) =>
      update(userId, { set: '#status = :status', names: { '#status': 'status' }, values: { ':status': status } }),

    setUserRole: (userId, role) =>
      update(userId, { set: '#role = :role', names: { '#role': 'role' }, values: { ':role': role } }),

    setUserPassword: async (userId, password) =>
      update(userId, {
        set: 'passwordHash = :hash, credentialVersion = credentialVersion + :one',
        values: { ':hash': await hashPassword(password), ':one': 1 },
      }),

    replacePasswordHash: async (userId, oldHash, newHash) => {
      await update(userId, {
        condition: 'passwordHash = :old',
        set: 'passwordHash = :hash',
        values: { ':hash': newHash, ':old': oldHash },
      });
    },
  };
};
