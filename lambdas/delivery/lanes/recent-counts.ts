import { slownessWindow } from './slowness.ts';

export type RecentCounts = ReturnType<typeof makeRecentCounts>;

/** Creates in-memory counters for the last minute. */
export function makeRecentCounts() {
  const byKey = new Map<string, Bucket[]>();
  return { add, take };

  function add(key: string, now: number): void {
    const number = Math.floor(now / bucketLength);
    const keyBuckets = byKey.get(key) ?? [];
    const last = keyBuckets.at(-1);
    if (last?.number === number) {
      last.count += 1;
      return;
    }
    keyBuckets.push({ number, count: 1 });
    if (keyBuckets.length > buckets + 1) keyBuckets.shift();
    byKey.set(key, keyBuckets);
    const oldest = byKey.size > maxKeys ? byKey.keys().next().value : undefined;
    if (oldest !== undefined) byKey.delete(oldest);
  }

  /** Returns the count of the last minute, and resets it. */
  function take(key: string, now: number): number {
    const first = Math.floor(now / bucketLength) - buckets + 1;
    const keyBuckets = byKey.get(key) ?? [];
    byKey.delete(key);
    return keyBuckets.reduce((sum, { number, count }) => (number >= first ? sum + count : sum), 0);
  }
}

interface Bucket {
  readonly number: number;
  count: number;
}

/** The number of buckets in a minute. */
const buckets = 6;
const bucketLength = slownessWindow / buckets;

/** The maximum number of keys. The oldest key is removed first. */
const maxKeys = 10_000;
