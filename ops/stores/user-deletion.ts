import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import type { CredentialStore } from '../../lambdas/auth/principals/credential-store.ts';
import {
  normaliseEmail,
  parseCredential,
  parseUser,
  type User,
  type UserTables,
  userKey,
} from '../../lambdas/auth/principals/user.ts';
import { type Dynamo, isPossibleKey } from '../../lambdas/platform/aws/dynamo.ts';
import { expression, updateItem } from '../../lambdas/platform/aws/update-item.ts';
import type { Clock } from '../../lambdas/platform/clock.ts';
import { type FoundItems, scanPages, scanTable } from './scan.ts';

/** The change that ends every session of a user. */
export const endedSessions = { version: expression`version + ${1}` };

/**
 * Makes the steps of a user's deletion: mark, release each address, delete. Whatever it is ended at, the mark stays and it goes on by
 * the user's id.
 */
export function makeUserDeletion({
  dynamo,
  tables,
  now,
  findUser,
  deleteCredential,
}: {
  readonly dynamo: Dynamo;
  readonly tables: UserTables;
  readonly now: Clock;
  readonly findUser: (userId: string) => Promise<User | undefined>;
  readonly deleteCredential: CredentialStore['deleteCredential'];
}) {
  return { beginDeletion, releaseEmail, releaseClaims, deleteUser, listBeingDeleted };

  /** Deletes the credential of an e-mail address where it is the user's, unless the user is to keep the address. False: it stayed. */
  async function releaseEmail(userId: string, given: string): Promise<boolean> {
    const email = normaliseEmail(given);
    const user = await findUser(userId);
    const isKept = user?.email === email && user.status !== 'deleting';
    return !isKept && deleteCredential(email, userId);
  }

  /** Releases the addresses that an account's users claimed and did not get, as of a creation that was killed. Returns how many. */
  async function releaseClaims(accountId: string): Promise<number> {
    const { credentials: table } = tables;
    const where = { accountId };
    const claims = await scanTable(dynamo, { table, partitionKey: 'email', parse: parseCredential, where });
    let released = 0;
    for (const { email, userId } of claims) if (await releaseEmail(userId, email)) released += 1;
    return released;
  }

  /**
   * Marks a user as being deleted: disabled for good, every session ended. Returns them as they are then, with all their addresses:
   * no other change comes after it. It may be repeated.
   */
  async function beginDeletion(userId: string): Promise<User | undefined> {
    const itemKey = userKey(tables.users, userId);
    if (!isPossibleKey(itemKey.key)) return undefined;
    const marked = await updateItem(dynamo, itemKey, {
      set: { status: 'deleting', updatedAt: now(), ...endedSessions },
      when: expression`attribute_exists(userId) AND status <> ${'deleting'}`,
      returns: 'ALL_NEW',
    });
    return marked ? parseUser(marked) : findUser(userId);
  }

  /** Deletes the user, which ends every session and every login. The e-mail address stays taken until it is released. */
  async function deleteUser(userId: string): Promise<void> {
    const { table, key } = userKey(tables.users, userId);
    if (isPossibleKey(key)) await dynamo(new DeleteCommand({ TableName: table, Key: key }));
  }

  /** Lists the users whose deletion is not complete, among those that a bounded read of the table finds. */
  function listBeingDeleted(): Promise<FoundItems<User>> {
    const filter = {
      TableName: tables.users,
      FilterExpression: '#status = :deleting',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':deleting': 'deleting' },
    };
    return scanPages(dynamo, filter, parseUser, mostPages);
  }
}

/** Pages of 1 MiB: some 4,000 users each. */
const mostPages = 10;
