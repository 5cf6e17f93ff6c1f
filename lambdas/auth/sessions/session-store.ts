import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { isConditionFailed, readTogether } from '../../platform/dynamo.ts';
import { type Family, familyAddress, parseFamily } from './session.ts';

/**
 * Writes to refresh families; each is one write of one item. The SDK repeats a write whose answer got lost, so each must
 * bear being done twice.
 */
export interface FamilyStore {
  /** Its id is random: there is none of that id, unless by this very call. */
  createFamily(family: Family): Promise<void>;
  findFamily(familyId: string): Promise<Family | undefined>;
  /** The family as it is after the rotation; `undefined` when another rotation or a revocation came first. */
  rotateFamily(family: Family, rotation: Rotation): Promise<Family | undefined>;
  /** Ends the family; the first reason stays. */
  revokeFamily(familyId: string, reason: NonNullable<Family['revokedFor']>, now: number): Promise<void>;
}

/** What a family store stands on. */
export interface FamilyStoreDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
}

/** Makes the store of table `Families`: partition `userId`, range `familyId`, one item per login. */
export function makeFamilyStore({ documents, tableName }: FamilyStoreDependencies): FamilyStore {
  return {
    createFamily: async family => {
      await documents.send(new PutCommand({ TableName: tableName, Item: { ...family, ttl: ttl(family) } }));
    },

    findFamily: async familyId => {
      const [item] = await readTogether(documents, [familyAddress(tableName, familyId)]);
      return parseFamily(item);
    },

    rotateFamily: async (family, rotation) => {
      try {
        const answer = await documents.send(
          new UpdateCommand({
            TableName: tableName,
            Key: familyAddress(tableName, family.familyId).key,
            ConditionExpression: '#counter = :presented AND attribute_not_exists(revokedAt)',
            UpdateExpression:
              'SET #counter = :next, keyId = :keyId, rotationId = :rotationId, rotatedAt = :now, idleExpiresAt = :idle, #ttl = :ttl',
            ExpressionAttributeNames: { '#counter': 'counter', '#ttl': 'ttl' },
            ExpressionAttributeValues: {
              ':presented': family.counter,
              ':next': family.counter + 1,
              ':keyId': rotation.keyId,
              ':rotationId': rotation.rotationId,
              ':now': rotation.rotatedAt,
              ':idle': rotation.idleExpiresAt,
              ':ttl': ttl({ ...family, ...rotation }),
            },
            ReturnValues: 'ALL_NEW',
          }),
        );
        return parseFamily(answer.Attributes);
      } catch (error) {
        if (isConditionFailed(error)) return undefined;
        throw error;
      }
    },

    revokeFamily: async (familyId, reason, now) => {
      try {
        await documents.send(
          new UpdateCommand({
            TableName: tableName,
            Key: familyAddress(tableName, familyId).key,
            ConditionExpression: 'attribute_exists(familyId) AND attribute_not_exists(revokedAt)',
            UpdateExpression: 'SET revokedAt = :now, revokedFor = :reason',
            ExpressionAttributeValues: { ':now': now, ':reason': reason },
          }),
        );
      } catch (error) {
        if (!isConditionFailed(error)) throw error; // gone or revoked already: as wanted
      }
    },
  };
}

/** How a rotation changes a family: the counter grows by one besides. */
type Rotation = Pick<Family, 'keyId' | 'rotatedAt' | 'idleExpiresAt'> & { readonly rotationId: string };

function ttl({ idleExpiresAt, absoluteExpiresAt }: Pick<Family, 'idleExpiresAt' | 'absoluteExpiresAt'>): number {
  return Math.ceil(Math.min(idleExpiresAt, absoluteExpiresAt) / 1_000) + cleanupDelaySeconds;
}

/** DynamoDB may delete a family this long after nothing of it can be alive. Only cleaning up: expiry is told from the record. */
const cleanupDelaySeconds = 86_400;
