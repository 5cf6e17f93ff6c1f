/**
 * The maximum number of messages in flight in one process of a consumer, which receives more while it waits for receivers. In the fast
 * lanes, it leaves capacity while 50 webhooks hang with five attempts each (`npm run world -- --isolation`, ADR 10).
 */
export const attemptsPerProcess = { first: 300, retry: 300, slow: 500 } as const;

export type ConcurrencyLimit = ReturnType<typeof makeConcurrencyLimit>;

/** Returns the number of slots that a webhook has in this process. */
export type SlotsOf = (webhook: InFlightWebhook) => number;

/** A webhook that has messages in flight, or whose first message is about to be admitted. */
interface InFlightWebhook {
  /** The number of webhooks that have messages in flight. */
  readonly webhooks: number;
  /** The number of other webhooks' messages in flight. */
  readonly ofOthers: number;
  /** The number of messages that have finished since the webhook last stopped being quick. */
  readonly finished: number;
  /** True unless one of its messages has been in flight for more than half a second. */
  readonly isQuick: boolean;
  /** True for a test or an expedited attempt. */
  readonly isAskedFor: boolean;
}

/**
 * Returns the slots in the fast lanes: 25, or 5 if others have ten messages in flight. A quick webhook gains a slot with each message
 * that finishes, up to 100, so that a burst to a healthy receiver passes. The more messages others have, the fewer slots it gains.
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
 * Returns the slots in the slow lane. All its processes together have at most 120 attempts of a webhook in flight. A sixth of the slots,
 * at least one in each process, is reserved for requested attempts, which therefore need not wait for a backlog.
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
 * Creates the limit of a process. A webhook that hangs fills only its own slots. The limit lasts as long as the process, and
 * stores only webhooks that have messages in flight.
 *
 * @param capacity - the maximum number of messages in flight in the process
 * @param elapsed - a monotonic clock, in milliseconds
 */
export function makeConcurrencyLimit(slotsOf: SlotsOf, capacity: number, elapsed: () => number) {
  const inFlight = new Map<string, Slots>();
  let takenByAll = 0;
  return { enter, hasRoomFor, isBusy };

  /** Occupies a slot. Returns the function that frees it, or `undefined` if all slots of the webhook are occupied. */
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
   * Returns whether the process should receive this many more messages, which probably belong to the webhooks in flight. It should not if
   * only one webhook is in flight and soon frees the slots that it lacks. Behind a slower webhook, messages of others may wait.
   */
  function hasRoomFor(more: number): boolean {
    const [of, another] = inFlight.values();
    return !of || another !== undefined || !isQuick(of, awaitedFor) || of.since.size + more <= countOf(of);
  }

  /**
   * Returns whether other messages may wait for the slots of a webhook. That is so if a tenth of all slots are occupied, or all slots of
   * the webhook, or if the process of a busy lane has stopped receiving.
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
  /** The time when each slot was occupied, in this order. */
  readonly since: Map<symbol, number>;
  finished: number;
}

/** A webhook is quick unless a message of it has been in flight for longer than this, in milliseconds. */
const quickFor = 500;

/** The time for which others may wait for a slot, in milliseconds. It is less than `quickFor`. */
const awaitedFor = 100;

/** A process is busy if this share of its slots is occupied, or if its invocation has admitted as many messages. */
export const busyShare = 0.1;
