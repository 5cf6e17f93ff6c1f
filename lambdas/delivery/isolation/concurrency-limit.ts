export type ConcurrencyLimit = ReturnType<typeof makeConcurrencyLimit>;

/** The number of places that a key has. */
export interface Places {
  /** Until the key has shown that it is quick. */
  readonly places: number;
  /** A key that is quick has one place more for each thing that it has finished, up to this many. */
  readonly whileQuick: number;
  /** The number where other keys have taken `others` places or more. */
  readonly besideOthers: number;
  readonly others: number;
  /** A key is quick while nothing of it is in hand for longer than this, in milliseconds. */
  readonly quickFor: number;
  /** The time in which a place may be waited for, in milliseconds: less than `quickFor`. */
  readonly awaitedFor: number;
}

/**
 * Makes a limit, all of its places free: a webhook that hangs fills its own places only. A webhook that is quick is given what nobody
 * else wants, twice as many places each time that it has finished all of them. It loses them with what others take, and at once where
 * it stops to be quick. The limit lives as long as the process, and remembers only keys that have something in hand.
 *
 * @param elapsed - in milliseconds; never goes back
 */
export function makeConcurrencyLimit(
  { places, whileQuick, besideOthers, others, quickFor, awaitedFor }: Places,
  elapsed: () => number,
) {
  const inHand = new Map<string, KeyInHand>();
  let takenByAll = 0;
  return { enter, hasRoomFor };

  /** Takes a place. Returns what leaves it, or `undefined` where all of the key's places are taken. */
  function enter(key: string): (() => void) | undefined {
    const of = inHand.get(key) ?? { entered: new Set(), finished: 0 };
    if (of.entered.size >= placesOf(of)) return undefined;
    const place: Place = { since: elapsed() };
    of.entered.add(place);
    inHand.set(key, of);
    takenByAll += 1;
    return function leave() {
      of.finished = isQuick(of, quickFor) ? of.finished + 1 : 0;
      of.entered.delete(place);
      takenByAll -= 1;
      if (of.entered.size === 0) inHand.delete(key);
    };
  }

  /**
   * Returns whether so many more are worth taking in, where the next ones are likely to be of the keys in hand. They are not where one key
   * has all that is in hand, too few places for them, and may soon leave some. Beside a key that does not, others may wait for us.
   */
  function hasRoomFor(more: number): boolean {
    const [of, another] = inHand.values();
    return !of || another !== undefined || !isQuick(of, awaitedFor) || of.entered.size + more <= placesOf(of);
  }

  function placesOf(of: KeyInHand): number {
    const takenByOthers = takenByAll - of.entered.size;
    if (takenByOthers >= others) return besideOthers;
    const earned = isQuick(of, quickFor) ? Math.min(of.finished, whileQuick - places) : 0;
    return places + earned * (1 - takenByOthers / others);
  }

  function isQuick({ entered }: KeyInHand, within: number): boolean {
    const [oldest] = entered;
    return oldest === undefined || elapsed() - oldest.since <= within;
  }
}

interface KeyInHand {
  /** In the order in which they were taken. */
  readonly entered: Set<Place>;
  /** What it has finished since it was last not quick. */
  finished: number;
}

interface Place {
  readonly since: number;
}
