import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/aws/batch-get.ts';
import { isWritten, type StoreParts } from '../../platform/aws/dynamo.ts';
import { expression, updateItem } from '../../platform/aws/update-item.ts';
import { type After, withDeadline } from '../../platform/timer.ts';
import { parseSession, type Session, sessionKey } from './session.ts';

export type SessionStore = ReturnType<typeof makeSessionStore>;

/**
 * Makes the store of table `Sessions`: partition `userId`, range `sessionId`, one item per session. Each write is one write of one
 * item, and idempotent, since the SDK repeats a write whose answer got lost.
 */
export function makeSessionStore({ dynamo, table, after }: Omit<StoreParts, 'now'> & { readonly after: After }) {
  return { createSession, findSession, rotateSession, revokeSession, deleteSession };

  /**
   * Stores a new session. The id is random: only a repeated write can find it taken. Its first try may come after the session was
   * rotated or revoked, and must not undo that.
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

  /** Returns the session as it is after the rotation; `undefined` when another rotation or a revocation came first. */
  async function rotateSession(session: Session, rotation: Rotation): Promise<Session | undefined> {
    const rotated = await updateItem(dynamo, sessionKey(table, session.sessionId), {
      set: { ...rotation, counter: session.counter + 1, ttl: ttl({ ...session, ...rotation }) },
      when: expression`counter = ${session.counter} AND attribute_not_exists(revokedAt)`,
      returns: 'ALL_NEW',
    });
    return parseSession(rotated);
  }

  /** Ends the session. A session that is gone or revoked already stays as it is. */
  async function revokeSession(sessionId: string, reason: RevocationReason, now: number): Promise<void> {
    await updateItem(dynamo, sessionKey(table, sessionId), {
      set: { revokedAt: now, revokedFor: reason },
      when: expression`attribute_exists(sessionId) AND attribute_not_exists(revokedAt)`,
    });
  }

  /** Deletes the session of a login that is not answered. It waits for a second at most: the answer waits for it. */
  async function deleteSession(sessionId: string): Promise<void> {
    const command = new DeleteCommand({ TableName: table, Key: sessionKey(table, sessionId).key });
    await withDeadline(after, maxDeletion, abortSignal => dynamo(command, { abortSignal }));
  }
}

/** Milliseconds. */
const maxDeletion = 1_000;

type RevocationReason = NonNullable<Session['revokedFor']>;

/** The changes that a rotation makes in a session, besides adding one to the counter. */
type Rotation = Pick<Session, 'keyId' | 'rotatedAt' | 'idleExpiresAt'> & { readonly rotationId: string };

/** Returns the moment when DynamoDB may delete a session: it only cleans up, some time after. Expiry is judged by the record. */
function ttl({ idleExpiresAt, absoluteExpiresAt }: Pick<Session, 'idleExpiresAt' | 'absoluteExpiresAt'>): number {
  return Math.ceil(Math.min(idleExpiresAt, absoluteExpiresAt) / 1_000);
}
