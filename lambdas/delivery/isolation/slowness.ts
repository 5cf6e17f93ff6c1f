import {
  assumedAttempt,
  fewestSlowAttempts,
  furthestSlot,
  longestHold,
  manySlowAttempts,
  relapseWindow,
  shortestHold,
  slowAttemptsInFlight,
  slownessWindow,
  slowShare,
} from '../limits.ts';

/*
 * The rules of the slow lane, a bulkhead: a receiver that is slow to answer takes places of that lane only. Everything here
 * is pure; `slowness-store.ts` keeps the state, and `lab/world/isolation` runs hours of the slow lane.
 */

/** The known slowness of the receiver of one (account, event). Times in milliseconds since the epoch. */
export interface Slowness {
  /** Attempts of the last minute, oldest first. Quick ones are stored only together with slow ones. */
  readonly tallies: readonly AttemptTally[];
  /** Since when attempts are made in the slow lane. */
  readonly slowSince?: number | undefined;
  /** The last moment at which slow attempts reached their share, or a name did not resolve in time. */
  readonly reachedAt?: number | undefined;
  /** For this long after `reachedAt` nothing ends the slowness. */
  readonly hold?: number | undefined;
  /** The moment when the latest slowness ended. */
  readonly endedAt?: number | undefined;
  /** The longest attempt of the last minute, and when it was measured. */
  readonly longestAttempt?: number | undefined;
  readonly measuredAt?: number | undefined;
}

/** Nothing is known: no slow attempt was ever recorded. */
export const unknownSlowness: Slowness = { tallies: [] };

/** Returns whether a webhook's attempts are made in the slow lane. */
export function isSlow({ slowSince }: Slowness): boolean {
  return slowSince !== undefined;
}

/**
 * Adds attempts to the tally: slow ones, and the quick ones beside them. Where slow ones reach their share the webhook is
 * slow, or stays so for longer.
 */
export function withSlowAttempts(slowness: Slowness, added: { slow: number; quick: number }, now: number): Slowness {
  const tallies = addTally(slowness.tallies, added, now);
  const tallied = { ...slowness, tallies };
  return reachesShare(tallies) ? slowedDown(tallied, now) : tallied;
}

/** A name that did not resolve in time makes its webhook slow at once. */
export function withSlowDns(slowness: Slowness, now: number): Slowness {
  return slowedDown(slowness, now);
}

/** Returns whether a quick success that comes now ends the slowness. */
export function mayRecover({ slowSince, reachedAt = 0, hold = shortestHold }: Slowness, now: number): boolean {
  return slowSince !== undefined && now >= reachedAt + hold;
}

/** Returns the slowness after a quick success that ends it. What was tallied counts no more. */
export function recovered(slowness: Slowness, now: number): Slowness {
  return { ...slowness, tallies: [], slowSince: undefined, endedAt: now };
}

/**
 * Records how long an attempt took. The longest of the last minute counts; returns `undefined` where that changes nothing.
 */
export function withDuration(slowness: Slowness, duration: number, now: number): Slowness | undefined {
  const { longestAttempt = 0, measuredAt = Number.NEGATIVE_INFINITY } = slowness;
  const age = now - measuredAt;
  const isOutdated = age >= slownessWindow;
  // An equally long attempt is stored again, at most twice a minute.
  const renews = duration >= longestAttempt && (duration > longestAttempt * 1.1 || age >= slownessWindow / 2);
  return isOutdated || renews ? { ...slowness, longestAttempt: duration, measuredAt: now } : undefined;
}

/**
 * Returns the whole milliseconds between two attempts that begin at a slow webhook: as many a second as keep about 60 in
 * flight at the longest duration of the last minute, and `rate` a second at most.
 */
export function slotInterval({ longestAttempt = 0 }: Slowness, rate: number): number {
  return Math.ceil(Math.max(1_000 / rate, longestAttempt / slowAttemptsInFlight));
}

/**
 * The slots of a slow webhook, which pace the starts of its attempts. They come in series: a pace that is slower than that of slots
 * which are taken already begins a new one, and slots of earlier series count no more.
 */
export interface Slots {
  /** The slots before this moment are taken. */
  readonly nextSlotAt: number;
  /** The number of the series. */
  readonly slotSeries: number;
  /** The shortest interval between two of its slots; not set before one was taken. */
  readonly seriesInterval?: number | undefined;
}

/** Returns the moment of the next slot at an interval, and the slots as they are before it is taken: perhaps a new series. */
export function nextSlots(slots: Slots, interval: number, now: number): NextSlots {
  const { nextSlotAt, slotSeries, seriesInterval = interval } = slots;
  if (isSlowerThan(slots, interval)) {
    return { firstAt: now, after: { nextSlotAt: now, slotSeries: slotSeries + 1, seriesInterval: interval } };
  }
  const firstAt = Math.max(nextSlotAt, now);
  return { firstAt, after: { nextSlotAt: firstAt, slotSeries, seriesInterval: Math.min(seriesInterval, interval) } };
}

/** Takes the next slots, so many in a row. Returns `undefined`, and takes none, where the first is over a minute off. */
export function takeSlots(slots: Slots, count: number, interval: number, now: number): NextSlots | undefined {
  const { firstAt, after } = nextSlots(slots, interval, now);
  if (firstAt - now > furthestSlot) return undefined;
  return { firstAt, after: { ...after, nextSlotAt: firstAt + count * interval } };
}

/** The moment of a slot, in milliseconds since the epoch, and the slots as they are then. */
interface NextSlots {
  readonly firstAt: number;
  readonly after: Slots;
}

/** Returns whether a slot of a series counts still, at the interval that is right now. */
export function countsStill(slots: Slots, series: number, interval: number): boolean {
  return series === slots.slotSeries && !isSlowerThan(slots, interval);
}

/** Durations differ a little from attempt to attempt: up to a tenth is the same pace (as in `withDuration`). */
function isSlowerThan({ seriesInterval }: Slots, interval: number): boolean {
  return seriesInterval !== undefined && interval * 10 > seriesInterval * 11;
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
  return slow >= manySlowAttempts || (slow >= fewestSlowAttempts && slow >= slowShare * all);
}

function slowedDown(slowness: Slowness, now: number): Slowness {
  const { slowSince, endedAt, hold = shortestHold } = slowness;
  if (slowSince !== undefined) return { ...slowness, reachedAt: now };
  const isRelapse = endedAt !== undefined && now - endedAt < relapseWindow;
  return {
    ...slowness,
    slowSince: now,
    reachedAt: now,
    // It may hang: until the first attempt in the slow lane is measured, slots are given as if it did.
    longestAttempt: assumedAttempt,
    measuredAt: undefined,
    hold: isRelapse ? Math.min(hold * 2, longestHold) : shortestHold,
  };
}

/** Tallies are kept in pieces of the window this long, so that their number is bounded. */
const tallyLength = 5_000;
