/** The time within which slow attempts are counted. */
export const slownessWindow = 60_000;

/** The share of slow attempts within the window that makes a webhook slow. */
const slowShare = 0.1;

/*
 * The rules for which webhooks are slow, so that their attempts are made in the slow lane. All functions are pure.
 */

/** The known slowness of the receiver of an account's event. Times are in milliseconds since the epoch. */
export interface Slowness {
  /** Attempts of the last minute, oldest first. Quick attempts are stored only together with slow ones. */
  readonly tallies: readonly AttemptTally[];
  /** The moment since which attempts are made in the slow lane. */
  readonly slowSince?: number | undefined;
  /** The last moment at which slow attempts reached their share. */
  readonly reachedAt?: number | undefined;
  /** The time after `reachedAt` for which the slowness cannot end. */
  readonly hold?: number | undefined;
  /** The moment when the latest slowness ended. */
  readonly endedAt?: number | undefined;
}

/** The slowness of a webhook without recorded slow attempts. */
export const unknownSlowness: Slowness = { tallies: [] };

/** Returns whether a webhook's attempts are made in the slow lane. */
export function isSlow({ slowSince }: Slowness): boolean {
  return slowSince !== undefined;
}

/** Adds attempts to the tally. If slow ones reach their share, the webhook becomes slow or its slowness is extended. */
export function withSlowAttempts(slowness: Slowness, added: { slow: number; quick: number }, now: number): Slowness {
  const tallies = addTally(slowness.tallies, added, now);
  const tallied = { ...slowness, tallies };
  return reachesShare(tallies) ? slowedDown(tallied, now) : tallied;
}

/** Returns whether a quick response now ends the slowness. */
export function mayRecover({ slowSince, reachedAt = 0, hold = minHold }: Slowness, now: number): boolean {
  return slowSince !== undefined && now >= reachedAt + hold;
}

/** Returns the slowness after a quick response that ends it, without tallies. */
export function recovered(slowness: Slowness, now: number): Slowness {
  return { ...slowness, tallies: [], slowSince: undefined, endedAt: now };
}

/** The attempts that ended in one piece of the window, or were already slow in it. */
interface AttemptTally {
  /** The moment when the piece started. */
  readonly at: number;
  readonly slow: number;
  readonly quick: number;
}

function addTally(
  tallies: readonly AttemptTally[],
  { slow, quick }: { slow: number; quick: number },
  now: number,
): readonly AttemptTally[] {
  const recent = tallies.filter(({ at }) => now - at < slownessWindow);
  const last = recent.at(-1);
  if (!last || now - last.at >= tallyLength) return [...recent, { at: now, slow, quick }];
  return [...recent.slice(0, -1), { at: last.at, slow: last.slow + slow, quick: last.quick + quick }];
}

function reachesShare(tallies: readonly AttemptTally[]): boolean {
  const slow = tallies.reduce((sum, tally) => sum + tally.slow, 0);
  const all = tallies.reduce((sum, tally) => sum + tally.quick, slow);
  return slow >= minSlowAttempts && slow >= slowShare * all;
}

function slowedDown(slowness: Slowness, now: number): Slowness {
  const { slowSince, endedAt, hold = minHold } = slowness;
  if (slowSince !== undefined) return { ...slowness, reachedAt: now };
  const isRelapse = endedAt !== undefined && now - endedAt < relapseWindow;
  return {
    ...slowness,
    slowSince: now,
    reachedAt: now,
    hold: isRelapse ? Math.min(hold * 2, maxHold) : minHold,
  };
}

/** The length of a piece of the window, which bounds the number of tallies. */
const tallyLength = 5_000;

/** The minimum number of slow attempts within the window that makes a webhook slow, if they also reach `slowShare`. */
const minSlowAttempts = 2;

/** The minimum time for which a webhook remains slow after its share was last reached. Each relapse doubles it. */
const minHold = 60_000;

/** The maximum of the doubled hold. */
const maxHold = 60 * 60_000;

/** If a webhook becomes slow again within this time, it is a relapse. */
const relapseWindow = 24 * 60 * 60_000;
