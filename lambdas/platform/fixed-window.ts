import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { batchGet } from './batch-get.ts';
import type { Clock } from './clock.ts';
import { conditionalWrite, type Item, type ItemKey } from './dynamo.ts';

/**
 * A rate limit per minute and subject, in one item each: `count`, `endsAt` (milliseconds since the epoch) and `ttl`. The
 * minute begins with the first that is counted in it.
 */
export interface FixedWindow {
  /** The item of a subject, for callers that read it with other items. */
  keyOf(subject: string): ItemKey;
  /** Whole seconds until the window has room again, given its item; `undefined` while it has room. */
  secondsToWait(item: Item | undefined): number | undefined;
  /** Counts one more, whether or not the window has room. Best effort: a count may get lost where many count at once. */
  count(subject: string): Promise<void>;
  /**
   * Counts one more if the window has room, exactly, however many count at once. Otherwise nothing is counted, and the
   * answer is the whole seconds to wait.
   */
  countWithinLimit(subject: string): Promise<number | undefined>;
  /** As `countWithinLimit`, given the item as it was read. Where that has no room nothing is written or read. */
  countIfRoom(subject: string, item: Item | undefined): Promise<number | undefined>;
}

/** Makes a fixed-window rate limit over a table of items. */
export function makeFixedWindow({
  dynamo,
  now,
  limit,
  keyOf,
}: {
  readonly dynamo: Pick<DynamoDBDocumentClient, 'send'>;
  readonly now: Clock;
  /** How many fit into a window. */
  readonly limit: number;
  readonly keyOf: (subject: string) => ItemKey;
}): FixedWindow {
  return { keyOf, secondsToWait, count, countWithinLimit, countIfRoom };

  function secondsToWait(item: Item | undefined): number | undefined {
    if (!item) return undefined;
    const window = windowSchema.parse(item);
    const rest = window.endsAt - now();
    return window.count >= limit && rest > 0 ? Math.ceil(rest / 1_000) : undefined;
  }

  async function count(subject: string): Promise<void> {
    const key = keyOf(subject);
    for (let tries = 0; tries < maxTries; tries++) {
      if ((await addToWindow(key)) || (await beginWindow(key))) return;
    }
  }

  async function countWithinLimit(subject: string): Promise<number | undefined> {
    const key = keyOf(subject);
    if ((await addToWindow(key, limit)) || (await beginWindow(key))) return undefined;
    const [item] = await batchGet(dynamo, [key]);
    return countIfRoom(subject, item);
  }

  async function countIfRoom(subject: string, item: Item | undefined): Promise<number | undefined> {
    const key = keyOf(subject);
    let latest = item;
    for (let tries = 0; tries < maxTries; tries++) {
      const seconds = secondsToWait(latest);
      if (seconds !== undefined) return seconds;
      if (await (isOpen(latest) ? addToWindow(key, limit) : beginWindow(key))) return undefined;
      [latest] = await batchGet(dynamo, [key]); // somebody else counted in between
    }
    return 1;
  }

  function isOpen(item: Item | undefined): boolean {
    return item !== undefined && windowSchema.parse(item).endsAt > now();
  }

  function addToWindow(key: ItemKey, most?: number): Promise<boolean> {
    return update(key, {
      UpdateExpression: 'ADD #count :one',
      ConditionExpression: `endsAt > :now${most === undefined ? '' : ' AND #count < :most'}`,
      ExpressionAttributeNames: { '#count': 'count' },
      ExpressionAttributeValues: { ':one': 1, ':now': now(), ...(most === undefined ? {} : { ':most': most }) },
    });
  }

  function beginWindow(key: ItemKey): Promise<boolean> {
    const endsAt = now() + windowLength;
    return update(key, {
      UpdateExpression: 'SET #count = :one, endsAt = :endsAt, #ttl = :ttl',
      ConditionExpression: 'attribute_not_exists(endsAt) OR endsAt <= :now',
      ExpressionAttributeNames: { '#count': 'count', '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':one': 1, ':now': now(), ':endsAt': endsAt, ':ttl': Math.ceil(endsAt / 1_000) },
    });
  }

  /** Whether the condition held. */
  async function update({ table, key }: ItemKey, expressions: UpdateExpressions): Promise<boolean> {
    const command = new UpdateCommand({ TableName: table, Key: key, ...expressions });
    return (await conditionalWrite(dynamo.send(command))) !== undefined;
  }
}

/** How often a count that meets another at the window's end is tried. */
const maxTries = 3;

const windowSchema = z.object({ count: z.number(), endsAt: z.number() });

/** Milliseconds. */
const windowLength = 60_000;

interface UpdateExpressions {
  readonly UpdateExpression: string;
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames: Record<string, string>;
  readonly ExpressionAttributeValues: Record<string, number>;
}
