import { DeleteCommand, type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import type { Clock } from '../platform/clock.ts';
import { type Item, type ItemAddress, isConditionFailed, readTogether } from '../platform/dynamodb.ts';

const firstLock = 1_000;
const longestLock = 15 * 60_000;

/** Failures are forgotten this long after the last one, in milliseconds. */
const memory = 24 * 60 * 60_000;

/** Every lost turn means that somebody else's failure was counted, and the lock that soon follows ends the race. */
const turns = 10;

const countSchema = z.object({ failures: z.number(), lockedUntil: z.optional(z.number()), expiresAt: z.number() });
type Count = z.output<typeof countSchema>;

/** How long the n-th failure locks, in milliseconds: not at all below the threshold, from there 1 s doubling to 15 min. */
const lockLength = (failures: number, threshold: number): number =>
  failures < threshold ? 0 : Math.min(firstLock * 2 ** (failures - threshold), longestLock);

/** Counts failures in single items of any table and tells the lock they add up to. */
export interface FailureCount {
  isLocked(item: Item | undefined): boolean;
  /** Counts one failure, beginning from the item as it was last read. False while a lock stands: nothing is counted then. */
  add(address: ItemAddress, item: Item | undefined): Promise<boolean>;
  /** Forgets the failures. False while a lock stands: nothing is forgotten then. */
  clear(address: ItemAddress): Promise<boolean>;
}

/** What a failure count stands on. */
export interface FailureCountDependencies {
  readonly documents: Pick<DynamoDBDocumentClient, 'send'>;
  readonly now: Clock;
  /** The failure that locks first. */
  readonly threshold: number;
}

interface Write {
  readonly condition: string;
  readonly update: string;
  readonly values: Item;
}

/** Makes a failure count; items hold `failures`, `lockedUntil`, `expiresAt` (milliseconds since the epoch) and `ttl`. */
export const makeFailureCount = ({ documents, now, threshold }: FailureCountDependencies): FailureCount => {
  const read = (item: Item | undefined): Count | undefined => {
    const count = item && countSchema.parse(item);
    return count && count.expiresAt > now() ? count : undefined;
  };

  const isLocked = (item: Item | undefined): boolean => (read(item)?.lockedUntil ?? 0) > now();

  const begin: Write = {
    condition: 'attribute_not_exists(pk) OR expiresAt <= :now',
    update: 'SET failures = :one, expiresAt = :expiresAt, #ttl = :ttl REMOVE lockedUntil',
    values: { ':one': 1 },
  };
  // below the threshold nothing has to be compared, so that failures at the same moment do not wait for each other
  const addFreely: Write = {
    condition: 'failures < :last AND expiresAt > :now',
    update: 'SET expiresAt = :expiresAt, #ttl = :ttl ADD failures :one',
    values: { ':one': 1, ':last': threshold - 1 },
  };
  const addAndLock = ({ failures }: Count): Write => ({
    condition: 'failures = :seen AND expiresAt > :now',
    update: 'SET failures = :next, lockedUntil = :lockedUntil, expiresAt = :expiresAt, #ttl = :ttl',
    values: {
      ':seen': failures,
      ':next': failures + 1,
      ':lockedUntil': now() + lockLength(failures + 1, threshold),
    },
  });

  /** Whether the count was written: false when it is no longer as it was read. */
  const tryAdd = async ({ table, key }: ItemAddress, count: Count | undefined): Promise<boolean> => {
    const { condition, update, values } = !count
      ? begin
      : count.failures < threshold - 1
        ? addFreely
        : addAndLock(count);
    const expiresAt = now() + memory;
    try {
      await documents.send(
        new UpdateCommand({
          TableName: table,
          Key: key,
          ConditionExpression: condition,
          UpdateExpression: update,
          ExpressionAttributeNames: { '#ttl': 'ttl' },
          ExpressionAttributeValues: {
            ':now': now(),
            ':expiresAt': expiresAt,
            ':ttl': Math.ceil(expiresAt / 1_000),
            ...values,
          },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  };

  return {
    isLocked,

    add: async (address, item) => {
      let latest = item;
      for (let turn = 0; turn < turns && !isLocked(latest); turn++) {
        if (await tryAdd(address, read(latest))) return true;
        [latest] = await readTogether(documents, [address]);
      }
      return false;
    },

    clear: async ({ table, key }) => {
      try {
        await documents.send(
          new DeleteCommand({
            TableName: table,
            Key: key,
            ConditionExpression: 'attribute_not_exists(lockedUntil) OR lockedUntil <= :now',
            ExpressionAttributeValues: { ':now': now() },
          }),
        );
        return true;
      } catch (error) {
        if (isConditionFailed(error)) return false;
        throw error;
      }
    },
  };
};
