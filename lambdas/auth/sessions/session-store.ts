import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../platform/batch-get.ts';
import { conditionalWrite } from '../../platform/dynamo.ts';
import { parseSession, type Session, sessionKey } from './session.ts';

/**
 * Writes to sessions; each is one write of one item. The SDK repeats a write whose answer got lost, so each must
 * bear being done twice.
 */
export interface SessionStore {
  /** Its id is random: there is none of that id, unless by this very call. */
  createSession(session: Session): Promise<void>;
  findSession(sessionId: string): Promise<Session | undefined>;
  /** The session as it is after the rotation; `undefined` when another rotation or a revocation came first. */
  rotateSession(session: Session, rotation: Rotation): Promise<Session | undefined>;
  /** Ends the session; the first reason stays. */
  revokeSession(sessionId: string, reason: NonNullable<Session['revokedFor']>, now: number): Promise<void>;
}

/** What a session store stands on. */
export interface SessionStoreDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
}

/** Makes the store of table `Sessions`: partition `userId`, range `sessionId`, one item per login. */
export function makeSessionStore({ dynamo, tableName }: SessionStoreDependencies): SessionStore {
  return {
    createSession: async session => {
      await dynamo.send(new PutCommand({ TableName: tableName, Item: { ...session, ttl: ttl(session) } }));
    },

    findSession: async sessionId => {
      const [item] = await batchGet(dynamo, [sessionKey(tableName, sessionId)]);
      return parseSession(item);
    },

    rotateSession: async (session, rotation) => {
      const command = new UpdateCommand({
        TableName: tableName,
        Key: sessionKey(tableName, session.sessionId).key,
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
    },

    revokeSession: async (sessionId, reason, now) => {
      const command = new UpdateCommand({
        TableName: tableName,
        Key: sessionKey(tableName, sessionId).key,
        ConditionExpression: 'attribute_exists(sessionId) AND attribute_not_exists(revokedAt)',
        UpdateExpression: 'SET revokedAt = :now, revokedFor = :reason',
        ExpressionAttributeValues: { ':now': now, ':reason': reason },
      });
      await conditionalWrite(dynamo.send(command)); // a session that is gone or revoked already stays as it is
    },
  };
}

/** How a rotation changes a session: the counter grows by one besides. */
type Rotation = Pick<Session, 'keyId' | 'rotatedAt' | 'idleExpiresAt'> & { readonly rotationId: string };

function ttl({ idleExpiresAt, absoluteExpiresAt }: Pick<Session, 'idleExpiresAt' | 'absoluteExpiresAt'>): number {
  return Math.ceil(Math.min(idleExpiresAt, absoluteExpiresAt) / 1_000) + cleanupDelaySeconds;
}

/** DynamoDB may delete a session this long after nothing of it can be alive. Only cleaning up: expiry is told from the record. */
const cleanupDelaySeconds = 86_400;
