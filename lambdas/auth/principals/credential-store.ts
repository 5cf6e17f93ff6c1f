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

/**
 * Reads and writes credentials. Each write is one write of one item, and tells whether its condition held. E-mail addresses
 * are normalised by the caller.
 */
export interface CredentialStore {
  findCredential(email: string): Promise<Credential | undefined>;
  /** False if the e-mail address is taken. */
  addCredential(credential: Credential): Promise<boolean>;
  /** Replaces a credential that was left behind by that of another user. False if it has changed since it was read. */
  takeOverCredential(left: Credential, credential: Credential): Promise<boolean>;
  /** Sets a new password of the same user; a newer version is never replaced by an older one. */
  setPasswordHash(
    credential: Pick<Credential, 'email' | 'userId' | 'passwordHash' | 'credentialVersion'>,
  ): Promise<boolean>;
  /** Replaces the hash of the same password. False if another one was stored meanwhile. Ends no session. */
  replacePasswordHash(email: string, oldHash: string, newHash: string): Promise<boolean>;
  deleteCredential(email: string, userId: string): Promise<boolean>;
}

/** Makes the store of table `Credentials`: partition `email`, which makes e-mail addresses unique. */
export function makeCredentialStore({
  dynamo,
  table,
  now,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
  readonly now: Clock;
}): CredentialStore {
  return {
    findCredential,
    addCredential,
    takeOverCredential,
    setPasswordHash,
    replacePasswordHash,
    deleteCredential,
  };

  async function findCredential(email: string): Promise<Credential | undefined> {
    if (!isPossibleKey({ email })) return undefined;
    const command = new GetCommand({ TableName: table, Key: keyOf(email), ConsistentRead: true });
    return parseCredential((await dynamo.send(command)).Item);
  }

  function addCredential(credential: Credential): Promise<boolean> {
    const ConditionExpression = 'attribute_not_exists(email)';
    return isWritten(dynamo.send(new PutCommand({ TableName: table, Item: credential, ConditionExpression })));
  }

  function takeOverCredential(left: Credential, credential: Credential): Promise<boolean> {
    return update(
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
    );
  }

  function setPasswordHash({
    email,
    userId,
    passwordHash,
    credentialVersion,
  }: Pick<Credential, 'email' | 'userId' | 'passwordHash' | 'credentialVersion'>): Promise<boolean> {
    return update(
      email,
      'userId = :userId AND credentialVersion <= :version',
      'passwordHash = :hash, credentialVersion = :version',
      { ':userId': userId, ':hash': passwordHash, ':version': credentialVersion },
    );
  }

  function replacePasswordHash(email: string, oldHash: string, newHash: string): Promise<boolean> {
    return update(email, 'passwordHash = :old', 'passwordHash = :hash', { ':old': oldHash, ':hash': newHash });
  }

  function deleteCredential(email: string, userId: string): Promise<boolean> {
    const command = new DeleteCommand({
      TableName: table,
      Key: keyOf(email),
      ConditionExpression: 'userId = :userId',
      ExpressionAttributeValues: { ':userId': userId },
    });
    return isWritten(dynamo.send(command));
  }

  function update(email: string, condition: string, set: string, values: Item): Promise<boolean> {
    const command = new UpdateCommand({
      TableName: table,
      Key: keyOf(email),
      ConditionExpression: condition,
      UpdateExpression: `SET ${set}`,
      ExpressionAttributeValues: values,
    });
    return isWritten(dynamo.send(command));
  }

  function keyOf(email: string): Item {
    return credentialKey(table, email).key;
  }
}

/** Whether a write's condition held. */
async function isWritten(write: Promise<unknown>): Promise<boolean> {
  return (await conditionalWrite(write)) !== undefined;
}
