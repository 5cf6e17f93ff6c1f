import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { batchGet } from './batch-get.ts';
import type { Clock } from './clock.ts';
import { conditionalWrite, type ItemKey } from './dynamo.ts';

/**
 * Counts one more in the window of an item, and gives the whole seconds until there may be another where the window is
 * full: then nothing is counted.
 */
export type CountInWindow = (address: ItemKey) => Promise<number | undefined>;

/** What a fixed window needs. */
export interface FixedWindowDependencies {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly now: Clock;
  /** How many fit into a minute, which begins with the first of them. */
  readonly limit: number;
}

/** Makes a limit per minute: exact, however many count at once. */
export function makeFixedWindow({ dynamo, now, limit }: FixedWindowDependencies): CountInWindow {
  return async function countInWindow(address) {
    for (let turn = 0; turn < tries; turn++) {
      const moment = now();
      if ((await addToWindow(address, moment)) || (await beginWindow(address, moment))) return undefined;
      const [item] = await batchGet(dynamo, [address]);
      const { data: window } = windowSchema.safeParse(item);
      if (window && window.count >= limit && window.endsAt > moment) {
        return Math.ceil((window.endsAt - moment) / 1_000);
      }
    }
    return 1;
  };

  function addToWindow(address: ItemKey, moment: number): Promise<boolean> {
    const values = { ':now': moment, ':limit': limit };
    return write(address, 'ADD #count :one', 'endsAt > :now AND #count < :limit', { '#count': 'count' }, values);
  }

  function beginWindow(address: ItemKey, moment: number): Promise<boolean> {
    const endsAt = moment + windowLength;
    return write(
      address,
      'SET #count = :one, endsAt = :endsAt, #ttl = :ttl',
      'attribute_not_exists(endsAt) OR endsAt <= :now',
      { '#count': 'count', '#ttl': 'ttl' },
      { ':now': moment, ':endsAt': endsAt, ':ttl': Math.ceil(endsAt / 1_000) },
    );
  }

  /** Whether the write's condition held. */
  async function write(
    { table, key }: ItemKey,
    update: string,
    condition: string,
    names: Record<string, string>,
    values: Record<string, number>,
  ): Promise<boolean> {
    const command = new UpdateCommand({
      TableName: table,
      Key: key,
      UpdateExpression: update,
      ConditionExpression: condition,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: { ':one': 1, ...values },
    });
    return (await conditionalWrite(dynamo.send(command))) !== undefined;
  }
}

/** How often callers may get in each other's way before one is told to wait. */
const tries = 3;

const windowSchema = z.object({ count: z.number(), endsAt: z.number() });

/** Milliseconds. */
const windowLength = 60_000;
