/** Slow attempts make a webhook slow by how many there are within this time. */
export const slownessWindow = 60_000;

/** The share of slow attempts among all attempts within the window. */
const slowShare = 0.1;

/*
 * When a webhook is slow: its attempts are made in the slow lane then. Everything here is pure; `slowness-store.ts` keeps the state.
 */

/** The known slowness of the receiver of one (account, event). Times in milliseconds since the epoch. */
export interface Slowness {
  /** Attempts of the last minute, oldest first. Quick ones are stored only together with slow ones. */
  readonly tallies: readonly AttemptTally[];
  /** Since when attempts are made in the slow lane. */
  readonly slowSince?: number | undefined;
  /** The last moment at which slow attempts reached their share. */
  readonly reachedAt?: number | undefined;
  /** For this long after `reachedAt` nothing ends the slowness. */
  readonly hold?: number | undefined;
  /** The moment when the latest slowness ended. */
  readonly endedAt?: number | undefined;
}

/** Nothing is known: no slow attempt was ever recorded. */
export const unknownSlowness: Slowness = { tallies: [] };

/** Returns whether a webhook's attempts are made in the slow lane. */
export function isSlow({ slowSince }: Slowness): boolean {
  return slowSince !== undefined;
}

/** Adds attempts to the tally. If slow ones reach their share the webhook is slow, or stays so for longer. */
export function withSlowAttempts(slowness: Slowness, added: { slow: number; quick: number }, now: number): Slowness {
  const tallies = addTally(slowness.tallies, added, now);
  const tallied = { ...slowness, tallies };
  return reachesShare(tallies) ? slowedDown(tallied, now) : tallied;
}

/** Returns whether a quick answer that comes now ends the slowness. */
export function mayRecover({ slowSince, reachedAt = 0, hold = minHold }: Slowness, now: number): boolean {
  return slowSince !== undefined && now >= reachedAt + hold;
}

/** Returns the slowness after a quick answer that ends it. What was tallied counts no more. */
export function recovered(slowness: Slowness, now: number): Slowness {
  return { ...slowness, tallies: [], slowSince: undefined, endedAt: now };
}

/** Attempts that ended in, or were still slow in, one piece of the window. */
interface AttemptTally {
  /** The moment when the piece began. */
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

/** Tallies are kept in pieces of the window this long, so that their number is bounded. */
const tallyLength = 5_000;

/** The fewest slow attempts within the window that make a webhook slow, if they also reach `slowShare`. */
const minSlowAttempts = 2;

/** A webhook stays slow for at least this long after its share was last reached; each relapse doubles that. */
const minHold = 60_000;

/** Relapses double the hold up to this. */
const maxHold = 60 * 60_000;

/** A webhook that becomes slow again within this time relapses. */
const relapseWindow = 24 * 60 * 60_000;
