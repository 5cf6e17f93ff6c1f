import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../platform/clock.ts';
import { conditionalWrite, type Item, isPossibleKey } from '../../platform/dynamo.ts';
import { type Credential, credentialKey, parseCredential } from './user.ts';

/** Writes to logins; each is one write of one item, and tells whether its condition held. Addresses are normalised. */
export interface CredentialStore {
  findCredential(email: string): Promise<Credential | undefined>;
  /** False where the address is taken. */
  addCredential(credential: Credential): Promise<boolean>;
  /** Gives an address that was left behind to the user of another credential. False where it is no longer as it was found. */
  takeOverCredential(left: Credential, credential: Credential): Promise<boolean>;
  /** A new password of the same user; a newer version is never replaced by an older one. */
  setPasswordHash(
    credential: Pick<Credential, 'email' | 'userId' | 'passwordHash' | 'credentialVersion'>,
  ): Promise<boolean>;
  /** Stores the hash unless another was stored meanwhile. Ends no session. */
  replacePasswordHash(email: string, oldHash: string, newHash: string): Promise<boolean>;
  deleteCredential(email: string, userId: string): Promise<boolean>;
}

/** What a login store needs. */
export interface CredentialStoreDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly now: Clock;
}

/** Makes the store of table `Credentials`: partition `email`, which makes addresses unique. */
export function makeCredentialStore({ dynamo, tableName, now }: CredentialStoreDependencies): CredentialStore {
  const keyOf = (email: string): Item => credentialKey(tableName, email).key;

  const update = (email: string, condition: string, set: string, values: Item): Promise<boolean> => {
    const command = new UpdateCommand({
      TableName: tableName,
      Key: keyOf(email),
      ConditionExpression: condition,
      UpdateExpression: `SET ${set}`,
      ExpressionAttributeValues: values,
    });
    return holds(dynamo.send(command));
  };

  return {
    findCredential: async email => {
      if (!isPossibleKey({ email })) return undefined;
      const command = new GetCommand({ TableName: tableName, Key: keyOf(email), ConsistentRead: true });
      return parseCredential((await dynamo.send(command)).Item);
    },

    addCredential: credential =>
      holds(
        dynamo.send(
          new PutCommand({
            TableName: tableName,
            Item: credential,
            ConditionExpression: 'attribute_not_exists(email)',
          }),
        ),
      ),

    takeOverCredential: (left, credential) =>
      update(
        left.email,
        'userId = :left AND passwordHash = :leftHash',
        'userId = :userId, passwordHash = :hash, credentialVersion = :version, createdAt = :now',
        {
          ':left': left.userId,
          ':leftHash': left.passwordHash,
          ':userId': credential.userId,
          ':hash': credential.passwordHash,
          ':version': credential.credentialVersion,
          ':now': now(),
        },
      ),

    setPasswordHash: ({ email, userId, passwordHash, credentialVersion }) =>
      update(
        email,
        'userId = :userId AND credentialVersion <= :version',
        'passwordHash = :hash, credentialVersion = :version',
        { ':userId': userId, ':hash': passwordHash, ':version': credentialVersion },
      ),

    replacePasswordHash: (email, oldHash, newHash) =>
      update(email, 'passwordHash = :old', 'passwordHash = :hash', { ':old': oldHash, ':hash': newHash }),

    deleteCredential: (email, userId) =>
      holds(
        dynamo.send(
          new DeleteCommand({
            TableName: tableName,
            Key: keyOf(email),
            ConditionExpression: 'userId = :userId',
            ExpressionAttributeValues: { ':userId': userId },
          }),
        ),
      ),
  };
}

/** Whether a write's condition held. */
async function holds(write: Promise<unknown>): Promise<boolean> {
  return (await conditionalWrite(write)) !== undefined;
}
