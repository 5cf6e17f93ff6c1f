import { BatchWriteCommand, type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/batch-get.ts';
import { type Item, isPossibleKey } from '../../platform/dynamo.ts';
import { parseSession, type Session, sessionKey } from './session.ts';

/** Whose sessions: one user's, or those that began through one client. */
export type SessionOwner = { readonly userId: string } | { readonly clientId: string };

/** What operators see of sessions, and what is left of those whose user is gone. */
export interface SessionList {
  /** By id. @param after - the last session id of the page before. */
  listSessions(owner: SessionOwner, limit: number, after?: string): Promise<SessionPage>;
  /** Deletes what is kept of a user's sessions. */
  deleteSessions(userId: string): Promise<void>;
}

/** What lists of sessions need. */
export interface SessionListDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
}

/** Makes the lists over table `Sessions`, by query and never by scan. */
export function makeSessionList({ dynamo, tableName }: SessionListDependencies): SessionList {
  const query = async (owner: SessionOwner, limit: number, after: string | undefined) => {
    const [[name = '', id = ''] = []] = Object.entries(owner);
    if (!isPossibleKey({ id })) return { items: [], next: undefined };
    const isOfUser = name === 'userId';
    const start = after === undefined ? undefined : { ...sessionKey(tableName, after).key, [name]: id };
    const answer = await dynamo.send(
      new QueryCommand({
        TableName: tableName,
        ...(isOfUser ? { ConsistentRead: true } : { IndexName: byClient }),
        KeyConditionExpression: '#owner = :owner',
        ExpressionAttributeNames: { '#owner': name },
        ExpressionAttributeValues: { ':owner': id },
        Limit: limit,
        ExclusiveStartKey: start,
      }),
    );
    const last: unknown = answer.LastEvaluatedKey?.sessionId;
    return { items: answer.Items ?? [], next: typeof last === 'string' ? last : undefined };
  };

  const parseAll = (items: readonly (Item | undefined)[]): Session[] =>
    items.map(parseSession).filter(session => session !== undefined);

  return {
    listSessions: async (owner, limit, after) => {
      const { items, next } = await query(owner, limit, after);
      if ('userId' in owner) return { sessions: parseAll(items), next };
      const addresses = items.map(({ sessionId }) => sessionKey(tableName, String(sessionId)));
      return { sessions: parseAll(await batchGet(dynamo, addresses)), next };
    },

    deleteSessions: async userId => {
      let after: string | undefined;
      do {
        const { items, next } = await query({ userId }, batchSize, after);
        let requests: Item[] = items.map(item => ({ DeleteRequest: { Key: { userId, sessionId: item.sessionId } } }));
        for (let attempt = 0; requests.length > 0; attempt++) {
          if (attempt === 5)
            throw new Error('DynamoDB is busy: repeat the command to delete the rest of the sessions.');
          const answer = await dynamo.send(new BatchWriteCommand({ RequestItems: { [tableName]: requests } }));
          requests = answer.UnprocessedItems?.[tableName] ?? [];
        }
        after = next;
      } while (after !== undefined);
    },
  };
}

/** A part of a list of sessions. */
interface SessionPage {
  readonly sessions: readonly Session[];
  /** Where the next page begins; `undefined` after the last one. */
  readonly next: string | undefined;
}

/** The index of table `Sessions`: partition `clientId`, range `sessionId`; it holds keys alone, which no rotation changes. */
const byClient = 'byClient';

/** As many as one batch deletes. */
const batchSize = 25;
