import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import type { Clock } from '../../platform/clock.ts';
import { type Item, type ItemKey, isConditionFailed } from '../../platform/dynamo.ts';

/** Bounds failures per minute. The minute begins with the first failure; successes are never counted. */
export interface RateLimit {
  /** Where the failures of an address or client are counted. */
  counterKey(subject: string): ItemKey;
  /** Whole seconds until the subject may try again; `undefined` while it is below the limit. */
  secondsToWait(counted: Item | undefined): number | undefined;
  /** Counts one failure. */
  countFailure(subject: string): Promise<void>;
}

/** What a rate limit stands on. */
export interface RateLimitDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly now: Clock;
  /** What is limited: part of the key. */
  readonly kind: 'address' | 'client';
  /** Failures a minute. */
  readonly limit: number;
}

/** Makes a limit over table `Lockouts`: partition `pk`, here `<kind>#<subject>`. */
export function makeRateLimit({ dynamo, tableName, now, kind, limit }: RateLimitDependencies): RateLimit {
  const counterKey = (subject: string): ItemKey => ({ table: tableName, key: { pk: `${kind}#${subject}` } });

  /** Whether the write's condition held. */
  const write = async (subject: string, condition: string, update: string, values: Item): Promise<boolean> => {
    const names = { '#count': 'count', ...(update.includes('#ttl') ? { '#ttl': 'ttl' } : {}) };
    try {
      await dynamo.send(
        new UpdateCommand({
          TableName: tableName,
          Key: counterKey(subject).key,
          ConditionExpression: condition,
          UpdateExpression: update,
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: { ':one': 1, ':now': now(), ...values },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

  const addToWindow = (subject: string) => write(subject, 'endsAt > :now', 'ADD #count :one', {});

  const beginWindow = (subject: string) => {
    const endsAt = now() + windowLength;
    return write(
      subject,
      'attribute_not_exists(pk) OR endsAt <= :now',
      'SET #count = :one, endsAt = :endsAt, #ttl = :ttl',
      { ':endsAt': endsAt, ':ttl': Math.ceil(endsAt / 1_000) },
    );
  };

  return {
    counterKey,
    secondsToWait: counted => {
      if (!counted) return undefined;
      const { count, endsAt } = windowSchema.parse(counted);
      const rest = endsAt - now();
      return count >= limit && rest > 0 ? Math.ceil(rest / 1_000) : undefined;
    },
    countFailure: async subject => {
      for (let attempt = 0; attempt < tries; attempt++) {
        if ((await addToWindow(subject)) || (await beginWindow(subject))) return;
      }
    },
  };
}

const windowLength = 60_000;

const windowSchema = z.object({ count: z.number(), endsAt: z.number() });

/** How often two counters may get in each other's way before one gives up: a count lost is no harm. */
const tries = 3;
