import { slownessWindow } from '../limits.ts';

/** Counts by key of the last minute, in memory. A process that ends forgets them, and each process has its own. */
export interface RecentCounts {
  /** Counts one more. */
  add(key: string, now: number): void;
  /** Gives the count of the last minute, and begins anew. */
  take(key: string, now: number): number;
}

/** Makes counts that nothing was added to. Their lifetime is the process's, and each count's a minute. */
export function makeRecentCounts(): RecentCounts {
  const byKey = new Map<string, Piece[]>();
  return {
    add(key, now) {
      const number = Math.floor(now / pieceLength);
      const counted = byKey.get(key) ?? [];
      const last = counted.at(-1);
      if (last?.number === number) {
        last.count += 1;
        return;
      }
      counted.push({ number, count: 1 });
      if (counted.length > pieces + 1) counted.shift();
      byKey.set(key, counted);
      const oldest = byKey.size > mostKeys ? byKey.keys().next().value : undefined;
      if (oldest !== undefined) byKey.delete(oldest);
    },
    take(key, now) {
      const first = Math.floor(now / pieceLength) - pieces + 1;
      const counted = byKey.get(key) ?? [];
      byKey.delete(key);
      return counted.reduce((sum, { number, count }) => (number >= first ? sum + count : sum), 0);
    },
  };
}

interface Piece {
  readonly number: number;
  count: number;
}

/** The minute is counted in pieces. */
const pieces = 6;
const pieceLength = slownessWindow / pieces;

/** Keys that are kept at most; the one that was counted first is forgotten first. */
const mostKeys = 10_000;
