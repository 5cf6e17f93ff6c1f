import * as z from 'zod/mini';
import { batchGet } from './aws/batch-get.ts';
import type { Dynamo, Item, ItemKey } from './aws/dynamo.ts';
import { expression, updateItem } from './aws/update-item.ts';
import type { Clock } from './clock.ts';

export type FixedWindow = ReturnType<typeof makeFixedWindow>;

/**
 * Makes a rate limit per minute and subject, in one item each: `count`, `endsAt` (milliseconds since the epoch) and `ttl`. The
 * minute begins with the first that is counted in it.
 */
export function makeFixedWindow({
  dynamo,
  now,
  limit,
  keyOf,
}: {
  readonly dynamo: Dynamo;
  readonly now: Clock;
  /** The most counts that fit into a window. */
  readonly limit: number;
  /** The item of a subject, which callers may read with other items. */
  readonly keyOf: (subject: string) => ItemKey;
}) {
  return { keyOf, secondsToWait, count, countWithinLimit };

  /** Returns the whole seconds until the window has room again, given its item; `undefined` while it has room. */
  function secondsToWait(item: Item | undefined): number | undefined {
    if (!item) return undefined;
    const window = windowSchema.parse(item);
    const rest = window.endsAt - now();
    return window.count >= limit && rest > 0 ? Math.ceil(rest / 1_000) : undefined;
  }

  /** Counts one more, whether or not the window has room. Best effort: a count may get lost where many count at once. */
  async function count(subject: string): Promise<void> {
    const key = keyOf(subject);
    for (let tries = 0; tries < maxTries; tries++) {
      if ((await addToWindow(key)) || (await beginWindow(key))) return;
    }
  }

  /**
   * Counts one more if the window has room, exactly, however many count at once. Otherwise counts nothing, and returns the whole
   * seconds to wait.
   */
  async function countWithinLimit(subject: string): Promise<number | undefined> {
    const key = keyOf(subject);
    for (let tries = 0; tries < maxTries; tries++) {
      if ((await addToWindow(key, limit)) || (await beginWindow(key))) return undefined;
      const [item] = await batchGet(dynamo, [key]);
      const seconds = secondsToWait(item);
      if (seconds !== undefined) return seconds;
    }
    return 1;
  }

  async function addToWindow(key: ItemKey, most?: number): Promise<boolean> {
    const open = expression`endsAt > ${now()}`;
    const when = most === undefined ? open : expression`${open} AND count < ${most}`;
    return (await updateItem(dynamo, key, { set: { count: expression`count + ${1}` }, when })) !== undefined;
  }

  async function beginWindow(key: ItemKey): Promise<boolean> {
    const endsAt = now() + windowLength;
    const updated = await updateItem(dynamo, key, {
      set: { count: 1, endsAt, ttl: Math.ceil(endsAt / 1_000) },
      when: expression`attribute_not_exists(endsAt) OR endsAt <= ${now()}`,
    });
    return updated !== undefined;
  }
}

/** A count that meets another one at the end of a window succeeds at its second try. */
const maxTries = 2;

const windowSchema = z.object({ count: z.number(), endsAt: z.number() });

/** Milliseconds. */
const windowLength = 60_000;
