/**
 * The maximum number of messages in flight in one process of a consumer, which receives more while it waits for receivers. In the
 * fast lanes, 50 webhooks that hang at once with five attempts each leave capacity for others (`npm run world -- --isolation`, ADR 10).
 */
export const attemptsPerProcess = { first: 300, retry: 300, slow: 500 } as const;

export type ConcurrencyLimit = ReturnType<typeof makeConcurrencyLimit>;

/** Returns the number of slots that a webhook has in this process. */
export type SlotsOf = (webhook: InFlightWebhook) => number;

/** A webhook with messages in flight, or with its first one about to be. */
interface InFlightWebhook {
  /** The number of webhooks that have messages in flight. */
  readonly webhooks: number;
  /** The number of other webhooks' messages in flight. */
  readonly ofOthers: number;
  /** The number of messages that finished since it was last not quick. */
  readonly finished: number;
  /** True unless one of its messages has been in flight for more than half a second. */
  readonly isQuick: boolean;
  /** True for a test or an expedited attempt. */
  readonly isAskedFor: boolean;
}

/**
 * Returns the slots in the fast lanes: 25, or 5 if others have ten messages in flight. A quick webhook gets one more for each message
 * that finished, up to 100, so that a burst to a healthy receiver passes, and fewer of those the more messages others have.
 */
export function fastLaneSlots({ ofOthers, finished, isQuick }: InFlightWebhook): number {
  if (ofOthers >= manyOfOthers) return slotsNextToOthers;
  const earned = isQuick ? Math.min(finished, maxSlots - minSlots) : 0;
  return minSlots + earned * (1 - ofOthers / manyOfOthers);
}

const minSlots = 25;
const maxSlots = 100;
const slotsNextToOthers = 5;
const manyOfOthers = 10;

/**
 * Returns the slots in the slow lane: all its processes together have at most 120 attempts of a webhook in flight. A sixth of them, at
 * least one in each process, is reserved for requested attempts, which therefore need not wait for a backlog.
 */
export function slowLaneSlots(slowConcurrency: number): SlotsOf {
  return function slotsOf({ webhooks, isAskedFor }) {
    const share = Math.min(120 / slowConcurrency, sharedSlots / webhooks);
    const slots = Math.max(2, Math.floor(share));
    return isAskedFor ? slots : Math.max(1, Math.min(slots - 1, Math.floor((share * 5) / 6)));
  };
}

/** The slots of a process that its slow webhooks share. */
const sharedSlots = 420;

/**
 * Creates the limit of a process: a webhook that hangs fills only its own slots. The limit lives as long as the process, and
 * remembers only webhooks that have messages in flight.
 *
 * @param capacity - the maximum number of messages in flight in the process
 * @param elapsed - in milliseconds; monotonic
 */
export function makeConcurrencyLimit(slotsOf: SlotsOf, capacity: number, elapsed: () => number) {
  const inFlight = new Map<string, Slots>();
  let takenByAll = 0;
  return { enter, hasRoomFor, isBusy };

  /** Takes a slot. Returns the function that frees it, or `undefined` if all of the webhook's slots are taken. */
  function enter(key: string, isAskedFor = false): (() => void) | undefined {
    const of = inFlight.get(key) ?? { since: new Map<symbol, number>(), finished: 0 };
    if (of.since.size >= countOf(of, isAskedFor)) return undefined;
    const slot = Symbol();
    of.since.set(slot, elapsed());
    inFlight.set(key, of);
    takenByAll += 1;
    return function leave() {
      of.finished = isQuick(of, quickFor) ? of.finished + 1 : 0;
      of.since.delete(slot);
      takenByAll -= 1;
      if (of.since.size === 0) inFlight.delete(key);
    };
  }

  /**
   * Returns whether this many more messages are worth receiving: they are probably of the webhooks in flight. They are not worth it if
   * only one webhook is in flight, and has too few slots for them but frees some soon. If it is slower, others may wait behind it.
   */
  function hasRoomFor(more: number): boolean {
    const [of, another] = inFlight.values();
    return !of || another !== undefined || !isQuick(of, awaitedFor) || of.since.size + more <= countOf(of);
  }

  /**
   * Returns whether others may wait for the slots of a webhook: a tenth of all are taken, or all of its own, or the process of a
   * busy lane has stopped receiving.
   */
  function isBusy(key: string, hasStopped = false): boolean {
    const of = inFlight.get(key);
    const isFull = of !== undefined && of.since.size >= countOf(of);
    return isFull || takenByAll >= busyShare * capacity || hasStopped;
  }

  function countOf(of: Slots, isAskedFor = false): number {
    return slotsOf({
      webhooks: inFlight.size + (of.since.size === 0 ? 1 : 0),
      ofOthers: takenByAll - of.since.size,
      finished: of.finished,
      isQuick: isQuick(of, quickFor),
      isAskedFor,
    });
  }

  function isQuick({ since }: Slots, within: number): boolean {
    const [oldest] = since.values();
    return oldest === undefined || elapsed() - oldest <= within;
  }
}

interface Slots {
  /** The time when each slot was taken, in this order. */
  readonly since: Map<symbol, number>;
  finished: number;
}

/** A webhook is quick unless a message of it has been in flight for longer than this, in milliseconds. */
const quickFor = 500;

/** The time for which others may wait for a slot, in milliseconds: less than `quickFor`. */
const awaitedFor = 100;

/** A process is busy if this share of its slots is taken. If its invocation has taken as many messages, it is busy until that ends. */
export const busyShare = 0.1;
