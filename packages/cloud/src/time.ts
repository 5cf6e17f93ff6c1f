import { makeHeap } from './heap.ts';
import { makeSettling } from './virtual/settling.ts';

/** A virtual clock in milliseconds since the epoch, with scheduled events. */
export type VirtualTime = ReturnType<typeof makeTime>;

/** The clock and timers of a service, in virtual or real time. */
export type Clock = Pick<VirtualTime, 'now' | 'at' | 'after'>;

/**
 * Creates virtual time. All promises of an event settle before the next event runs.
 *
 * @param afterEach - called after each event, when its promises have settled
 */
export function makeTime(start: number, afterEach: () => void = () => undefined) {
  const scheduled = makeHeap<ScheduledEvent>(isBefore);
  let order = 0;
  let current = start;
  let isRunning = false;
  return { now: () => current, at, after, runUntil, runUntilTrue };

  /**
   * Schedules an event and returns a function that cancels it. Events for the same time run in the order of these calls.
   *
   * @param isQuiet - true if the event settles no promise, so the clock need not wait for promises
   */
  function at(moment: number, act: () => void, isQuiet = false): () => void {
    if (Number.isNaN(moment)) throw new RangeError('The time of an event must be a number.');
    const event: ScheduledEvent = { moment: Math.max(moment, current), order: order++, isQuiet, act };
    scheduled.push(event);
    return function cancel() {
      event.act = undefined;
    };
  }

  function after(milliseconds: number, act: () => void, isQuiet = false): () => void {
    return at(current + milliseconds, act, isQuiet);
  }

  /** Runs all events up to this time, and advances the clock to it. Rejects if an event throws. */
  async function runUntil(moment: number): Promise<void> {
    await run(next => next <= moment);
    current = Math.max(current, moment);
  }

  /** Runs until the condition is true or no events remain. Returns whether the condition is true. */
  async function runUntilTrue(isMet: () => boolean): Promise<boolean> {
    await run(() => !isMet());
    return isMet();
  }

  async function run(mayContinue: (next: number) => boolean): Promise<void> {
    if (isRunning) throw new Error('Time is already running.');
    isRunning = true;
    const settling = makeSettling();
    try {
      await settling.settled();
      for (let next = scheduled.first(); next && mayContinue(next.moment); next = scheduled.first()) {
        scheduled.shift();
        if (!next.act) continue;
        current = next.moment;
        next.act();
        if (next.isQuiet) continue;
        await settling.settled();
        afterEach();
      }
    } finally {
      settling.end();
      isRunning = false;
    }
  }
}

interface ScheduledEvent {
  readonly moment: number;
  readonly order: number;
  readonly isQuiet: boolean;
  /** The action, or `undefined` after cancellation. */
  act: (() => void) | undefined;
}

function isBefore(one: ScheduledEvent, other: ScheduledEvent): boolean {
  return one.moment < other.moment || (one.moment === other.moment && one.order < other.order);
}
