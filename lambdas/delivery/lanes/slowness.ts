/** The length of the window for counting slow attempts, in milliseconds. */
export const slownessWindow = 60_000;

/** The share of slow attempts within the window that makes a webhook slow. */
const slowShare = 0.1;

/* The rules that determine which webhooks are slow. All functions are pure. */

/** The slowness of the receiver for an account's event. Times are in milliseconds since the epoch. */
export interface Slowness {
  /** The attempts in the last minute, oldest first. Quick attempts are stored only together with slow attempts. */
  readonly tallies: readonly AttemptTally[];
  /** The time at which the webhook became slow, and its attempts moved to the slow lane. */
  readonly slowSince?: number | undefined;
  /** The time at which slow attempts last reached their share (`slowShare`). */
  readonly reachedAt?: number | undefined;
  /** The slowness cannot end until this many milliseconds after `reachedAt`. */
  readonly hold?: number | undefined;
  /** The time at which the latest slowness ended. */
  readonly endedAt?: number | undefined;
}

/** The slowness of a webhook without recorded slow attempts. */
export const unknownSlowness: Slowness = { tallies: [] };

/** Returns whether a webhook's attempts are made in the slow lane. */
export function isSlow({ slowSince }: Slowness): boolean {
  return slowSince !== undefined;
}

/** Adds attempts to the tallies. If slow attempts reach their share, the webhook becomes slow, or its slowness is extended. */
export function withSlowAttempts(slowness: Slowness, added: { slow: number; quick: number }, now: number): Slowness {
  const tallies = addTally(slowness.tallies, added, now);
  const tallied = { ...slowness, tallies };
  return reachesShare(tallies) ? slowedDown(tallied, now) : tallied;
}

/** Returns whether a quick response at this time ends the slowness. */
export function mayRecover({ slowSince, reachedAt = 0, hold = minHold }: Slowness, now: number): boolean {
  return slowSince !== undefined && now >= reachedAt + hold;
}

/** Returns the slowness after a quick response that ends it, without tallies. */
export function recovered(slowness: Slowness, now: number): Slowness {
  return { ...slowness, tallies: [], slowSince: undefined, endedAt: now };
}

/** The attempts that ended or became slow in one bucket of the window. */
interface AttemptTally {
  /** The start of the bucket. */
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

/** The length of a bucket in milliseconds, which limits the number of tallies. */
const tallyLength = 5_000;

/** A webhook becomes slow after at least this many slow attempts in the window, if they also reach `slowShare`. */
const minSlowAttempts = 2;

/** The minimum time for which a webhook remains slow after slow attempts last reached their share. Each relapse doubles it. */
const minHold = 60_000;

const maxHold = 60 * 60_000;

/** A webhook relapses if it becomes slow again within this time after its slowness ended. */
const relapseWindow = 24 * 60 * 60_000;
