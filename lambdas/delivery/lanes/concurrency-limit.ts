/**
 * The maximum number of in-flight messages in one consumer process, by lane. In the fast lanes, the limit leaves capacity for other
 * webhooks while 50 webhooks hang with five attempts each (`npm run world -- --isolation`, ADR 10).
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
  readonly othersInFlight: number;
  /** The number of messages that have finished since the webhook last became quick. */
  readonly finished: number;
  /** True unless one of the webhook's messages has been in flight for more than 500 ms. */
  readonly isQuick: boolean;
  /** True for a test or an expedited attempt. */
  readonly isRequested: boolean;
}

/**
 * Returns the number of slots in the fast lanes, which is 25, or 5 if other webhooks have at least ten messages in flight. A quick webhook
 * gains a slot with each finished message, up to 100 slots, so a burst to a healthy receiver is not limited. It gains fewer slots if other
 * webhooks have more messages in flight.
 */
export function fastLaneSlots({ othersInFlight, finished, isQuick }: InFlightWebhook): number {
  if (othersInFlight >= busyOthers) return slotsWithBusyOthers;
  const earned = isQuick ? Math.min(finished, maxSlots - minSlots) : 0;
  return minSlots + earned * (1 - othersInFlight / busyOthers);
}

const minSlots = 25;
const maxSlots = 100;
const slotsWithBusyOthers = 5;
const busyOthers = 10;

/**
 * Returns the function that computes the slots in the slow lane. All processes of the lane together make at most 120 concurrent attempts for
 * a webhook. A sixth of the slots, at least one per process, is reserved for requested attempts, so they need not wait for a backlog.
 */
export function slowLaneSlots(slowConcurrency: number): SlotsOf {
  return function slotsOf({ webhooks, isRequested }) {
    const share = Math.min(120 / slowConcurrency, sharedSlots / webhooks);
    const slots = Math.max(2, Math.floor(share));
    return isRequested ? slots : Math.max(1, Math.min(slots - 1, Math.floor((share * 5) / 6)));
  };
}

/** The number of slots that slow webhooks share in one process. */
const sharedSlots = 420;

/**
 * Creates the concurrency limit of a process. A hanging webhook occupies only its own slots. The limit lasts as long as the process and
 * stores only webhooks that have messages in flight.
 *
 * @param capacity - the maximum number of messages in flight in the process
 * @param elapsed - a monotonic clock, in milliseconds
 */
export function makeConcurrencyLimit(slotsOf: SlotsOf, capacity: number, elapsed: () => number) {
  const inFlight = new Map<string, Slots>();
  let occupied = 0;
  return { acquire, hasCapacityFor, isBusy };

  /** Occupies a slot. Returns the function that frees it, or `undefined` if all slots of the webhook are occupied. */
  function acquire(key: string, isRequested = false): (() => void) | undefined {
    const slots = inFlight.get(key) ?? { since: new Map<symbol, number>(), finished: 0 };
    if (slots.since.size >= limitOf(slots, isRequested)) return undefined;
    const slot = Symbol();
    slots.since.set(slot, elapsed());
    inFlight.set(key, slots);
    occupied += 1;
    return function release() {
      slots.finished = isQuick(slots, quickThreshold) ? slots.finished + 1 : 0;
      slots.since.delete(slot);
      occupied -= 1;
      if (slots.since.size === 0) inFlight.delete(key);
    };
  }

  /**
   * Returns whether the process should receive this many more messages, which probably belong to the webhooks in flight. For a single quick
   * webhook, the process waits for enough free slots. Behind a slower webhook, messages for others may be waiting.
   */
  function hasCapacityFor(more: number): boolean {
    const [slots, another] = inFlight.values();
    return !slots || another !== undefined || !isQuick(slots, slotWait) || slots.since.size + more <= limitOf(slots);
  }

  /**
   * Returns whether other messages may be waiting for the slots of a webhook. Returns true if all slots of the webhook or a tenth of all
   * slots are occupied, or if the process has stopped receiving.
   */
  function isBusy(key: string, hasStopped = false): boolean {
    const slots = inFlight.get(key);
    const isFull = slots !== undefined && slots.since.size >= limitOf(slots);
    return isFull || occupied >= busyShare * capacity || hasStopped;
  }

  function limitOf(slots: Slots, isRequested = false): number {
    return slotsOf({
      webhooks: inFlight.size + (slots.since.size === 0 ? 1 : 0),
      othersInFlight: occupied - slots.since.size,
      finished: slots.finished,
      isQuick: isQuick(slots, quickThreshold),
      isRequested,
    });
  }

  function isQuick({ since }: Slots, maxAge: number): boolean {
    const [oldest] = since.values();
    return oldest === undefined || elapsed() - oldest <= maxAge;
  }
}

interface Slots {
  /** The start time of each occupied slot, oldest first. */
  readonly since: Map<symbol, number>;
  finished: number;
}

/** A webhook is quick unless one of its messages has been in flight for longer than this many milliseconds. */
const quickThreshold = 500;

/** The maximum time that a process waits for the slots of a single webhook before it receives more messages, in milliseconds. */
const slotWait = 100;

/** A process is busy if this share of its capacity is occupied, or if it stopped receiving after starting the same number of messages. */
export const busyShare = 0.1;
