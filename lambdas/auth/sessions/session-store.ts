import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/batch-get.ts';
import { conditionalWrite } from '../../platform/dynamo.ts';
import { parseSession, type Session, sessionKey } from './session.ts';

/**
 * Reads and writes sessions. Each write is one write of one item, and idempotent, since the SDK repeats a write whose answer
 * got lost.
 */
export interface SessionStore {
  /** Unconditional: the id is random, so that only a repeated write can find it taken. */
  createSession(session: Session): Promise<void>;
  findSession(sessionId: string): Promise<Session | undefined>;
  /** The session as it is after the rotation; `undefined` when another rotation or a revocation came first. */
  rotateSession(session: Session, rotation: Rotation): Promise<Session | undefined>;
  /** Ends the session. A session that is gone or revoked already stays as it is. */
  revokeSession(sessionId: string, reason: RevocationReason, now: number): Promise<void>;
}

/** Makes the store of table `Sessions`: partition `userId`, range `sessionId`, one item per session. */
export function makeSessionStore({
  dynamo,
  table,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly table: string;
}): SessionStore {
  return { createSession, findSession, rotateSession, revokeSession };

  async function createSession(session: Session): Promise<void> {
    await dynamo.send(new PutCommand({ TableName: table, Item: { ...session, ttl: ttl(session) } }));
  }

  async function findSession(sessionId: string): Promise<Session | undefined> {
    const [item] = await batchGet(dynamo, [sessionKey(table, sessionId)]);
    return parseSession(item);
  }

  async function rotateSession(session: Session, rotation: Rotation): Promise<Session | undefined> {
    const command = new UpdateCommand({
      TableName: table,
      Key: sessionKey(table, session.sessionId).key,
      ConditionExpression: '#counter = :presented AND attribute_not_exists(revokedAt)',
      UpdateExpression:
        'SET #counter = :next, keyId = :keyId, rotationId = :rotationId, rotatedAt = :now, idleExpiresAt = :idle, #ttl = :ttl',
      ExpressionAttributeNames: { '#counter': 'counter', '#ttl': 'ttl' },
      ExpressionAttributeValues: {
        ':presented': session.counter,
        ':next': session.counter + 1,
        ':keyId': rotation.keyId,
        ':rotationId': rotation.rotationId,
        ':now': rotation.rotatedAt,
        ':idle': rotation.idleExpiresAt,
        ':ttl': ttl({ ...session, ...rotation }),
      },
      ReturnValues: 'ALL_NEW',
    });
    return parseSession((await conditionalWrite(dynamo.send(command)))?.Attributes);
  }

  async function revokeSession(sessionId: string, reason: RevocationReason, now: number): Promise<void> {
    const command = new UpdateCommand({
      TableName: table,
      Key: sessionKey(table, sessionId).key,
      ConditionExpression: 'attribute_exists(sessionId) AND attribute_not_exists(revokedAt)',
      UpdateExpression: 'SET revokedAt = :now, revokedFor = :reason',
      ExpressionAttributeValues: { ':now': now, ':reason': reason },
    });
    await conditionalWrite(dynamo.send(command)); // a failed condition: gone or revoked already
  }
}

type RevocationReason = NonNullable<Session['revokedFor']>;

/** What a rotation changes in a session, besides adding one to the counter. */
type Rotation = Pick<Session, 'keyId' | 'rotatedAt' | 'idleExpiresAt'> & { readonly rotationId: string };

/** When DynamoDB may delete a session: it only cleans up, some time after. Expiry is judged by the record. */
function ttl({ idleExpiresAt, absoluteExpiresAt }: Pick<Session, 'idleExpiresAt' | 'absoluteExpiresAt'>): number {
  return Math.ceil(Math.min(idleExpiresAt, absoluteExpiresAt) / 1_000);
}
