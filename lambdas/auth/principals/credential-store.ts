import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { type Item, isAsWritten, isPossibleKey, isWritten, type StoreParts } from '../../platform/aws/dynamo.ts';
import { type Expression, expression, updateItem } from '../../platform/aws/update-item.ts';
import { type Credential, credentialKey, parseCredential } from './user.ts';

export type CredentialStore = ReturnType<typeof makeCredentialStore>;

/**
 * Makes the store of table `Credentials`: partition `email`, which makes e-mail addresses unique. Each write is one write of one
 * item, and tells whether its condition held. E-mail addresses are normalised by the caller.
 */
export function makeCredentialStore({ dynamo, table, now }: StoreParts) {
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
    return parseCredential((await dynamo(command)).Item);
  }

  /** Adds a credential. False if the e-mail address is taken. */
  function addCredential(credential: Credential): Promise<boolean> {
    const ConditionExpression = 'attribute_not_exists(email)';
    const put = new PutCommand({ TableName: table, Item: credential, ConditionExpression });
    return isWritten(dynamo(put), async () => isAsWritten(await findCredential(credential.email), credential));
  }

  /** Replaces a credential that was left behind by that of another user. False if it has changed since it was read. */
  function takeOverCredential(left: Credential, credential: Credential): Promise<boolean> {
    const { userId, accountId, passwordHash, credentialVersion } = credential;
    return update(
      left.email,
      { userId, accountId, passwordHash, credentialVersion, createdAt: now() },
      expression`userId = ${left.userId} AND passwordHash = ${left.passwordHash}`,
    );
  }

  /** Sets a new password of the same user; a newer version is never replaced by an older one. */
  function setPasswordHash({
    email,
    userId,
    passwordHash,
    credentialVersion,
  }: Pick<Credential, 'email' | 'userId' | 'passwordHash' | 'credentialVersion'>): Promise<boolean> {
    return update(
      email,
      { passwordHash, credentialVersion },
      expression`userId = ${userId} AND credentialVersion <= ${credentialVersion}`,
    );
  }

  /** Replaces the hash of the same password. False if another one was stored meanwhile. Ends no session. */
  function replacePasswordHash(email: string, oldHash: string, newHash: string): Promise<boolean> {
    return update(email, { passwordHash: newHash }, expression`passwordHash = ${oldHash}`);
  }

  /** Deletes the credential of an e-mail address. False if it is not, or no more, that of the user. */
  function deleteCredential(email: string, userId: string): Promise<boolean> {
    const command = new DeleteCommand({
      TableName: table,
      Key: keyOf(email),
      ConditionExpression: 'userId = :userId',
      ExpressionAttributeValues: { ':userId': userId },
    });
    return isWritten(dynamo(command), async () => (await findCredential(email)) === undefined);
  }

  async function update(email: string, set: Partial<Credential>, when: Expression): Promise<boolean> {
    return (await updateItem(dynamo, credentialKey(table, email), { set, when })) !== undefined;
  }

  function keyOf(email: string): Item {
    return credentialKey(table, email).key;
  }
}
