import * as z from 'zod/mini';
import type { Item } from '../../platform/aws/dynamo.ts';

/** The time after the latest failure until all failures stop counting, in milliseconds. */
export const failureLifetime = 24 * 60 * 60_000;

/** The number of failures that starts the first lock. */
export const lockThreshold = 5;

/** The failures for an e-mail address through one client, at the time of the read. */
export interface Failures {
  /** The failures that still count. */
  readonly failures: number;
  /** The end of the lock, in milliseconds since the epoch, or `undefined` if there is no lock. */
  readonly lockedUntil: number | undefined;
  /** The id of the latest failure, or an empty string if there are none. */
  readonly latestFailure: string;
  /** True if the failures are too old to count. */
  readonly isStale: boolean;
}

/** Parses the failures that still count at `now`. Each failure after the fifth doubles the duration of the lock, up to 15 minutes. */
export function parseFailures(item: Item | undefined, now: number): Failures {
  if (!item) return { failures: 0, lockedUntil: undefined, latestFailure: '', isStale: false };
  const { failures, lastFailureAt, latestFailure } = failuresSchema.parse(item);
  if (lastFailureAt + failureLifetime <= now)
    return { failures: 0, lockedUntil: undefined, latestFailure, isStale: true };
  const lockEnd = lastFailureAt + Math.min(firstLockMs * 2 ** (failures - lockThreshold), maxLockMs);
  const isLocked = failures >= lockThreshold && lockEnd > now;
  return { failures, lockedUntil: isLocked ? lockEnd : undefined, latestFailure, isStale: false };
}

const failuresSchema = z.object({ failures: z.number(), lastFailureAt: z.number(), latestFailure: z.string() });

const firstLockMs = 1_000;
const maxLockMs = 15 * 60_000;
