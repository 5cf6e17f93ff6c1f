import { slownessWindow } from './slowness.ts';

export type RecentCounts = ReturnType<typeof makeRecentCounts>;

/** Creates empty counts of the last minute. They exist only in this process. */
export function makeRecentCounts() {
  const byKey = new Map<string, Piece[]>();
  return { add, take };

  function add(key: string, now: number): void {
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
    const oldest = byKey.size > maxKeys ? byKey.keys().next().value : undefined;
    if (oldest !== undefined) byKey.delete(oldest);
  }

  /** Returns the count of the last minute, and resets it. */
  function take(key: string, now: number): number {
    const first = Math.floor(now / pieceLength) - pieces + 1;
    const counted = byKey.get(key) ?? [];
    byKey.delete(key);
    return counted.reduce((sum, { number, count }) => (number >= first ? sum + count : sum), 0);
  }
}

interface Piece {
  readonly number: number;
  count: number;
}

/** The number of pieces into which the last minute is divided. */
const pieces = 6;
const pieceLength = slownessWindow / pieces;

/** The maximum number of keys. The oldest key is removed first. */
const maxKeys = 10_000;
