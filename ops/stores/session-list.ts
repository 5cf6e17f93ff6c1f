import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { parseSession, type Session, sessionKey } from '../../lambdas/auth/sessions/session.ts';
import { batchGet } from '../../lambdas/platform/aws/batch-get.ts';
import { type Item, type ItemKey, isPossibleKey, type StoreParts } from '../../lambdas/platform/aws/dynamo.ts';
import { batchDelete } from './batch-delete.ts';

/** The owner of sessions: a user, or the client that started the sessions. */
export type SessionOwner = { readonly userId: string } | { readonly clientId: string };

/** The functions that list sessions for operators, and delete the sessions of a user. */
export type SessionList = ReturnType<typeof makeSessionList>;

/** Creates the session functions for operators. They query the `Sessions` table and its index, and never scan. */
export function makeSessionList({ dynamo, table }: Omit<StoreParts, 'now'>) {
  return { listSessions, deleteSessions };

  /** Lists sessions by id. @param after - the last session id of the previous page. */
  async function listSessions(owner: SessionOwner, limit: number, after?: string): Promise<SessionPage> {
    const { items, next } = await query(owner, limit, after);
    if ('userId' in owner) return { sessions: parseAll(items), next };
    const keys = items.map(({ sessionId }) => sessionKey(table, String(sessionId)));
    return { sessions: parseAll(await batchGet(dynamo, keys)), next };
  }

  /**
   * Deletes all sessions of a user. The call can be repeated after an interruption.
   * @param onDeleted - receives the number of newly deleted sessions.
   * @throws {Error} if DynamoDB returns unprocessed deletions five times in a row.
   */
  async function deleteSessions(userId: string, onDeleted?: (count: number) => void): Promise<void> {
    await batchDelete(dynamo, keysOf(userId), onDeleted);
  }

  async function* keysOf(userId: string): AsyncGenerator<ItemKey> {
    let after: string | undefined;
    do {
      const { items, next } = await query({ userId }, deletionPage, after);
      for (const { sessionId } of items) yield { table, key: { userId, sessionId } };
      after = next;
    } while (after !== undefined);
  }

  async function query(owner: SessionOwner, limit: number, after: string | undefined) {
    const [[name = '', id = ''] = []] = Object.entries(owner);
    if (!isPossibleKey({ id })) return { items: [], next: undefined };
    const isOfUser = name === 'userId';
    const start = after === undefined ? undefined : { ...sessionKey(table, after).key, [name]: id };
    const response = await dynamo(
      new QueryCommand({
        TableName: table,
        ...(isOfUser ? { ConsistentRead: true } : { IndexName: byClient }),
        KeyConditionExpression: '#owner = :owner',
        ExpressionAttributeNames: { '#owner': name },
        ExpressionAttributeValues: { ':owner': id },
        Limit: limit,
        ExclusiveStartKey: start,
      }),
    );
    const last: unknown = response.LastEvaluatedKey?.sessionId;
    return { items: response.Items ?? [], next: typeof last === 'string' ? last : undefined };
  }
}

interface SessionPage {
  readonly sessions: readonly Session[];
  /** The start of the next page, or `undefined` after the last page. */
  readonly next: string | undefined;
}

function parseAll(items: readonly (Item | undefined)[]): Session[] {
  return items.map(parseSession).filter(session => session !== undefined);
}

/** The index of the `Sessions` table with partition key `clientId` and sort key `sessionId`. Rotations do not write to the index. */
const byClient = 'byClient';

/** The page size of the query before a deletion. */
const deletionPage = 1_000;
