import { makeHeap } from './heap.ts';
import { makeSettling } from './virtual/settling.ts';

/** Virtual time, in milliseconds since the epoch: a list of events, each at its moment. */
export type VirtualTime = ReturnType<typeof makeTime>;

/** The time of a service, virtual or real. */
export type Clock = Pick<VirtualTime, 'now' | 'at' | 'after'>;

/**
 * Makes virtual time. Between two events all promises of the first one settle, so that what an event sets in motion is over before
 * the next one comes.
 *
 * @param afterEach - is called when the promises of an event have settled
 */
export function makeTime(start: number, afterEach: () => void = () => undefined) {
  const planned = makeHeap<Planned>(isBefore);
  let order = 0;
  let present = start;
  let isRunning = false;
  return { now: () => present, at, after, runUntil, runUntilSo };

  /**
   * Plans an event, after those that were planned before for the same moment. Returns the function that cancels it.
   *
   * @param isQuiet - it settles no promise: nothing has to be waited for after it
   */
  function at(moment: number, act: () => void, isQuiet = false): () => void {
    if (Number.isNaN(moment)) throw new RangeError('An event needs a moment.');
    const event: Planned = { moment: Math.max(moment, present), order: order++, isQuiet, act };
    planned.push(event);
    return function cancel() {
      event.act = undefined;
    };
  }

  function after(milliseconds: number, act: () => void, isQuiet = false): () => void {
    return at(present + milliseconds, act, isQuiet);
  }

  /** Runs what is due up to this moment, and stands there then. Rejects where an event throws. */
  async function runUntil(moment: number): Promise<void> {
    await run(next => next <= moment);
    present = Math.max(present, moment);
  }

  /** Runs until this is so, or nothing is planned. Returns whether it is so. */
  async function runUntilSo(isSo: () => boolean): Promise<boolean> {
    await run(() => !isSo());
    return isSo();
  }

  async function run(mayGoOn: (next: number) => boolean): Promise<void> {
    if (isRunning) throw new Error('Time runs already.');
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
  /** Nothing once it was cancelled. */
  act: (() => void) | undefined;
}

function isBefore(one: Planned, other: Planned): boolean {
  return one.moment < other.moment || (one.moment === other.moment && one.order < other.order);
}
