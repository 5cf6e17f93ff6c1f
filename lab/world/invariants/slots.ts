import type { Delivery, Wait } from '../../../lambdas/delivery/delivery.ts';

/*
 * The promises know no slots. These are the differences that today's slots make to when a delivery is due; the file goes with them.
 */

/** Returns whether a delivery waits in the slow lane, by a slot or for one. */
export function isInSlowLane({ wait }: Delivery): boolean {
  return wait?.slowLane !== undefined;
}

/** Returns whether it waits in the table for a slot, without a time of its own. */
export function waitsForSlot({ wait }: Delivery): boolean {
  return wait?.slowLane === 'waiting';
}

/** Returns when an attempt is due by the schedule: its slot counts no more once its webhook is quick. */
export function dueAt({ slowLane, turnAt, nextAttemptAt }: Wait): number {
  return (slowLane && turnAt) ?? nextAttemptAt;
}

/** Slots are given for up to 75 s ahead, and a lane that lags takes new ones. Without slots a first deferral lasts 30 s at most. */
export const firstDeferral = 90_000;
