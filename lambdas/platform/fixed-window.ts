import * as z from 'zod/mini';
import { batchGet } from './aws/batch-get.ts';
import type { Dynamo, Item, ItemKey } from './aws/dynamo.ts';
import { expression, updateItem } from './aws/update-item.ts';
import type { Clock } from './clock.ts';

export type FixedWindow = ReturnType<typeof makeFixedWindow>;

/**
 * Creates a rate limit per minute and subject. Each subject has one item with `count`, `endsAt` (milliseconds since the epoch) and `ttl`. A
 * window of one minute starts with its first count.
 */
export function makeFixedWindow({
  dynamo,
  now,
  limit,
  keyOf,
}: {
  readonly dynamo: Dynamo;
  readonly now: Clock;
  /** The maximum count per window. */
  readonly limit: number;
  /** Returns the key of a subject's item, which callers may read together with other items. */
  readonly keyOf: (subject: string) => ItemKey;
}) {
  return { keyOf, secondsToWait, count, countWithinLimit };

  /** Returns the whole seconds until the window of an item ends, or `undefined` if the limit has not been reached. */
  function secondsToWait(item: Item | undefined): number | undefined {
    if (!item) return undefined;
    const window = windowSchema.parse(item);
    const rest = window.endsAt - now();
    return window.count >= limit && rest > 0 ? Math.ceil(rest / 1_000) : undefined;
  }

  /** Adds one to the count, even above the limit. Concurrent calls may lose a count. */
  async function count(subject: string): Promise<void> {
    const key = keyOf(subject);
    for (let tries = 0; tries < maxTries; tries++) {
      if ((await addToWindow(key)) || (await startWindow(key))) return;
    }
  }

  /** Adds one to the count, or returns the whole seconds to wait if the limit is reached. Concurrent calls do not lose counts. */
  async function countWithinLimit(subject: string): Promise<number | undefined> {
    const key = keyOf(subject);
    for (let tries = 0; tries < maxTries; tries++) {
      if ((await addToWindow(key, limit)) || (await startWindow(key))) return undefined;
      const [item] = await batchGet(dynamo, [key]);
      const seconds = secondsToWait(item);
      if (seconds !== undefined) return seconds;
    }
    return 1;
  }

  async function addToWindow(key: ItemKey, maxCount?: number): Promise<boolean> {
    const isOpen = expression`endsAt > ${now()}`;
    const when = maxCount === undefined ? isOpen : expression`${isOpen} AND count < ${maxCount}`;
    return (await updateItem(dynamo, key, { set: { count: expression`count + ${1}` }, when })) !== undefined;
  }

  async function startWindow(key: ItemKey): Promise<boolean> {
    const endsAt = now() + windowLength;
    const updated = await updateItem(dynamo, key, {
      set: { count: 1, endsAt, ttl: Math.ceil(endsAt / 1_000) },
      when: expression`attribute_not_exists(endsAt) OR endsAt <= ${now()}`,
    });
    return updated !== undefined;
  }
}

/** The maximum number of tries. The first try can fail because of a concurrent count at the end of a window. */
const maxTries = 2;

const windowSchema = z.object({ count: z.number(), endsAt: z.number() });

/** The length of a window in milliseconds. */
const windowLength = 60_000;
