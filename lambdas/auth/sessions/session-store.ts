import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/aws/batch-get.ts';
import { isWritten, type StoreParts } from '../../platform/aws/dynamo.ts';
import { expression, updateItem } from '../../platform/aws/update-item.ts';
import { type After, withDeadline } from '../../platform/timer.ts';
import { parseSession, type Session, sessionKey } from './session.ts';

export type SessionStore = ReturnType<typeof makeSessionStore>;

/**
 * Creates the store of the table `Sessions`, with partition key `userId`, sort key `sessionId` and one item per session. Each change is one
 * idempotent write of one item, because the SDK repeats a write after a lost response.
 */
export function makeSessionStore({ dynamo, table, after }: Omit<StoreParts, 'now'> & { readonly after: After }) {
  return { createSession, findSession, rotateSession, revokeSession, deleteSession };

  /**
   * Stores a new session. Its id is random, so the session exists already only if the SDK repeats the write. A delayed repeat must not
   * undo a rotation or revocation.
   */
  async function createSession(session: Session): Promise<void> {
    const Item = { ...session, ttl: ttl(session) };
    const ConditionExpression = 'attribute_not_exists(sessionId)';
    await isWritten(dynamo(new PutCommand({ TableName: table, Item, ConditionExpression })));
  }

  async function findSession(sessionId: string): Promise<Session | undefined> {
    const [item] = await batchGet(dynamo, [sessionKey(table, sessionId)]);
    return parseSession(item);
  }

  /** Rotates a session and returns it. Returns `undefined` if the session has been rotated or revoked since the read. */
  async function rotateSession(session: Session, rotation: Rotation): Promise<Session | undefined> {
    const item = await updateItem(dynamo, sessionKey(table, session.sessionId), {
      set: { ...rotation, counter: session.counter + 1, ttl: ttl({ ...session, ...rotation }) },
      when: expression`counter = ${session.counter} AND attribute_not_exists(revokedAt)`,
      returns: 'ALL_NEW',
    });
    return parseSession(item);
  }

  /** Revokes a session. Does nothing if the session is missing or already revoked. */
  async function revokeSession(sessionId: string, reason: RevocationReason, now: number): Promise<void> {
    await updateItem(dynamo, sessionKey(table, sessionId), {
      set: { revokedAt: now, revokedFor: reason },
      when: expression`attribute_exists(sessionId) AND attribute_not_exists(revokedAt)`,
    });
  }

  /** Deletes the session of a failed login. Waits at most 1 s, because the response waits for the deletion. */
  async function deleteSession(sessionId: string): Promise<void> {
    const command = new DeleteCommand({ TableName: table, Key: sessionKey(table, sessionId).key });
    await withDeadline(after, maxDeletionMs, abortSignal => dynamo(command, { abortSignal }));
  }
}

const maxDeletionMs = 1_000;

type RevocationReason = NonNullable<Session['revokedFor']>;

/** The attributes that a rotation changes, in addition to the counter. */
type Rotation = Pick<Session, 'keyId' | 'rotatedAt' | 'idleExpiresAt'> & { readonly rotationId: string };

/** Returns the time after which DynamoDB may delete a session, in seconds since the epoch. `isExpired` does not rely on the deletion. */
function ttl({ idleExpiresAt, absoluteExpiresAt }: Pick<Session, 'idleExpiresAt' | 'absoluteExpiresAt'>): number {
  return Math.ceil(Math.min(idleExpiresAt, absoluteExpiresAt) / 1_000);
}
