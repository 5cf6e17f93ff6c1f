import type { Wait } from './delivery.ts';

/*
 * The one measure of lateness of what is pending, whatever it waits for: the sweeper writes the longest as metric `OldestDue`, and
 * `ops status` shows it. Times and spans are in milliseconds; what is not due yet is late by less than zero.
 */

/** A task of the sweeper that gives turns: slots to the deliveries of a slow webhook, or those of a replay. */
export interface TurnGiver {
  /** The moment when it last moved anything on. */
  readonly servedAt?: number | undefined;
  /** The end of the last slot that it gave: slots are given ahead. */
  readonly nextSlotAt: number;
}

/** Returns by how much a delivery is late that has a due time of its own. */
export function latenessOf({ nextAttemptAt }: Wait, now: number): number {
  return now - nextAttemptAt;
}

/** Returns by how much something is late that waits for its turn since `dueAt`: turns that others get do not make it late. */
export function latenessOfTurn({ servedAt = 0, nextSlotAt }: TurnGiver, dueAt: number, now: number): number {
  return now - Math.max(servedAt, nextSlotAt, dueAt);
}
