import { makeHeap } from './heap.ts';
import { makeSettling } from './virtual/settling.ts';

/** Virtual time in milliseconds since the epoch, which is a list of timed events. */
export type VirtualTime = ReturnType<typeof makeTime>;

/** The virtual or real time of a service. */
export type Clock = Pick<VirtualTime, 'now' | 'at' | 'after'>;

/**
 * Creates virtual time. All promises of an event settle before the next one, so that its effects are complete.
 *
 * @param afterEach - called when the promises of an event have settled
 */
export function makeTime(start: number, afterEach: () => void = () => undefined) {
  const planned = makeHeap<Planned>(isBefore);
  let order = 0;
  let present = start;
  let isRunning = false;
  return { now: () => present, at, after, runUntil, runUntilSo };

  /**
   * Schedules an event, after those that are already scheduled for the same time. Returns a function that cancels it.
   *
   * @param isQuiet - the event settles no promise, so settling is skipped
   */
  function at(moment: number, act: () => void, isQuiet = false): () => void {
    if (Number.isNaN(moment)) throw new RangeError('An event needs a time.');
    const event: Planned = { moment: Math.max(moment, present), order: order++, isQuiet, act };
    planned.push(event);
    return function cancel() {
      event.act = undefined;
    };
  }

  function after(milliseconds: number, act: () => void, isQuiet = false): () => void {
    return at(present + milliseconds, act, isQuiet);
  }

  /** Runs the events that are due until this time, and advances the clock to it. Rejects if an event throws. */
  async function runUntil(moment: number): Promise<void> {
    await run(next => next <= moment);
    present = Math.max(present, moment);
  }

  /** Runs until the condition is true or no events remain. Returns whether it is true. */
  async function runUntilSo(isSo: () => boolean): Promise<boolean> {
    await run(() => !isSo());
    return isSo();
  }

  async function run(mayGoOn: (next: number) => boolean): Promise<void> {
    if (isRunning) throw new Error('Time is already running.');
    isRunning = true;
    const settling = makeSettling();
    try {
      await settling.settled();
      for (let next = planned.first(); next && mayGoOn(next.moment); next = planned.first()) {
        planned.shift();
        if (!next.act) continue;
        present = next.moment;
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

interface Planned {
  readonly moment: number;
  readonly order: number;
  readonly isQuiet: boolean;
  /** The action, or `undefined` after cancellation. */
  act: (() => void) | undefined;
}

function isBefore(one: Planned, other: Planned): boolean {
  return one.moment < other.moment || (one.moment === other.moment && one.order < other.order);
}
