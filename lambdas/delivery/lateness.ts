import type { Wait } from './delivery.ts';

/**
 * Returns by how many milliseconds a delivery is late: less than zero where it is not due yet. The sweeper writes the longest as metric
 * `OldestDue`, and `ops status` shows it.
 */
export function latenessOf({ nextAttemptAt }: Wait, now: number): number {
  return now - nextAttemptAt;
}
