/**
 * Messages that one process of a consumer has at once: it receives more while it waits for receivers. In the fast lanes fifty
 * webhooks that hang at the same moment, five attempts each, leave room for others (`npm run world -- --isolation`, ADR 10).
 */
export const attemptsPerProcess = { first: 300, retry: 300, slow: 500 } as const;

export type ConcurrencyLimit = ReturnType<typeof makeConcurrencyLimit>;

/** Returns the number of places that a webhook has in this process. */
export type PlacesOf = (webhook: InFlightWebhook) => number;

/** A webhook that has messages in flight, or is about to. */
interface InFlightWebhook {
  /** The number of webhooks that have messages in flight. */
  readonly webhooks: number;
  /** The number of messages in flight of other webhooks. */
  readonly ofOthers: number;
  /** Messages that it has finished since it was last not quick. */
  readonly finished: number;
  /** True unless one of its messages has been in flight for more than half a second. */
  readonly isQuick: boolean;
  /** True for a test or an expedited attempt. */
  readonly isAskedFor: boolean;
}

/**
 * Places in the fast lanes: 25, and 5 next to ten messages of others. A quick webhook has one more for each message that it has finished,
 * up to 100, so that a burst to a healthy receiver passes, and fewer of those the more others want.
 */
export function fastLanePlaces({ ofOthers, finished, isQuick }: InFlightWebhook): number {
  if (ofOthers >= manyOfOthers) return placesNextToOthers;
  const earned = isQuick ? Math.min(finished, maxPlaces - minPlaces) : 0;
  return minPlaces + earned * (1 - ofOthers / manyOfOthers);
}

const minPlaces = 25;
const maxPlaces = 100;
const placesNextToOthers = 5;
const manyOfOthers = 10;

/**
 * Returns the places in the slow lane: all its processes together have at most 120 attempts of a webhook in flight. A sixth of them, at
 * least one in each process, is for what was asked for, which so comes soon next to a backlog.
 */
export function slowLanePlaces(slowConcurrency: number): PlacesOf {
  return function placesOf({ webhooks, isAskedFor }) {
    const share = Math.min(120 / slowConcurrency, placesOfAll / webhooks);
    const places = Math.max(2, Math.floor(share));
    return isAskedFor ? places : Math.max(1, Math.min(places - 1, Math.floor((share * 5) / 6)));
  };
}

/** The places of a process that its slow webhooks divide among them. */
const placesOfAll = 420;

/**
 * Creates the limit of a process: a webhook that hangs fills its own places only. The limit lives as long as the
 * process, and remembers only webhooks that have messages in flight.
 *
 * @param capacity - the messages that the process has at once at most
 * @param elapsed - in milliseconds; never goes back
 */
export function makeConcurrencyLimit(placesOf: PlacesOf, capacity: number, elapsed: () => number) {
  const inFlight = new Map<string, Places>();
  let takenByAll = 0;
  return { enter, hasRoomFor, isBusy };

  /** Takes a place. Returns what leaves it, or `undefined` if all of the webhook's places are taken. */
  function enter(key: string, isAskedFor = false): (() => void) | undefined {
    const of = inFlight.get(key) ?? { since: new Map<symbol, number>(), finished: 0 };
    if (of.since.size >= countOf(of, isAskedFor)) return undefined;
    const place = Symbol();
    of.since.set(place, elapsed());
    inFlight.set(key, of);
    takenByAll += 1;
    return function leave() {
      of.finished = isQuick(of, quickFor) ? of.finished + 1 : 0;
      of.since.delete(place);
      takenByAll -= 1;
      if (of.since.size === 0) inFlight.delete(key);
    };
  }

  /**
   * Returns whether so many more are worth receiving: the next ones are likely to be of the webhooks in flight. They are not if one
   * webhook has all that is in flight, too few places for them, and may soon leave some. Next to a slower one, others may wait.
   */
  function hasRoomFor(more: number): boolean {
    const [of, another] = inFlight.values();
    return !of || another !== undefined || !isQuick(of, awaitedFor) || of.since.size + more <= countOf(of);
  }

  /**
   * Returns whether others may wait for the places that a webhook takes: a tenth of all are taken, or all of its own, or the process of a
   * busy lane has stopped receiving.
   */
  function isBusy(key: string, hasStopped = false): boolean {
    const of = inFlight.get(key);
    const isFull = of !== undefined && of.since.size >= countOf(of);
    return isFull || takenByAll >= busyShare * capacity || hasStopped;
  }

  function countOf(of: Places, isAskedFor = false): number {
    return placesOf({
      webhooks: inFlight.size + (of.since.size === 0 ? 1 : 0),
      ofOthers: takenByAll - of.since.size,
      finished: of.finished,
      isQuick: isQuick(of, quickFor),
      isAskedFor,
    });
  }

  function isQuick({ since }: Places, within: number): boolean {
    const [oldest] = since.values();
    return oldest === undefined || elapsed() - oldest <= within;
  }
}

interface Places {
  /** When each place that is taken was taken, in this order. */
  readonly since: Map<symbol, number>;
  finished: number;
}

/** A webhook is quick unless a message of it has been in flight for longer than this, in milliseconds. */
const quickFor = 500;

/** The time in which a place may be waited for, in milliseconds: less than `quickFor`. */
const awaitedFor = 100;

/** A process is busy when this share of its places is taken. If it took as many messages in an invocation, it is busy until that ends. */
export const busyShare = 0.1;
