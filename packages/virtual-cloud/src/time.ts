import { makeHeap } from './heap.ts';
import { makeSettling } from './settling.ts';

/** Virtual time, in milliseconds since the epoch: a list of events, each at its moment. */
export interface VirtualTime {
  readonly now: () => number;
  /**
   * Plans an event, after those that were planned before for the same moment. Returns the function that cancels it.
   *
   * @param kind - time that runs until nothing is due does not wait for what stands in the `background`: schedules, for one.
   */
  readonly at: (moment: number, act: () => void, kind?: 'background') => () => void;
  readonly after: (milliseconds: number, act: () => void, kind?: 'background') => () => void;
  /** Runs what is due up to this moment, and stands there then. Rejects where an event throws. */
  readonly runUntil: (moment: number) => Promise<void>;
  /** Runs until this is so, or nothing is due. Returns whether it is so. */
  readonly runUntilSo: (isSo: () => boolean) => Promise<boolean>;
  /** Runs until nothing is due but the background. @throws where that is not so by `latest`. */
  readonly runUntilIdle: (latest: number) => Promise<void>;
  /** The number of events so far. */
  readonly events: () => number;
}

/**
 * Makes virtual time. Between two events all promises of the first one settle, so that what an event sets in motion is over before
 * the next one comes.
 *
 * @param afterEach - is called when the promises of an event have settled
 */
export function makeTime(start: number, afterEach: () => void = () => undefined): VirtualTime {
  const planned = makeHeap<Planned>(isBefore);
  let present = start;
  let order = 0;
  let events = 0;
  let foreground = 0;
  let isRunning = false;
  return {
    now: () => present,
    at,
    after: (milliseconds, act, kind) => at(present + milliseconds, act, kind),
    runUntil,
    runUntilSo: async isSo => {
      await run(() => !isSo());
      return isSo();
    },
    runUntilIdle,
    events: () => events,
  };

  function at(moment: number, act: () => void, kind?: 'background'): () => void {
    if (Number.isNaN(moment)) throw new RangeError('An event needs a moment.');
    const isForeground = kind === undefined;
    const event: Planned = { moment: Math.max(moment, present), order: order++, act, isForeground };
    planned.push(event);
    if (isForeground) foreground += 1;
    return function cancel() {
      if (event.act && isForeground) foreground -= 1;
      event.act = undefined;
    };
  }

  async function runUntil(moment: number): Promise<void> {
    await run(next => next <= moment);
    present = Math.max(present, moment);
  }

  async function runUntilIdle(latest: number): Promise<void> {
    await run(next => foreground > 0 && next <= latest);
    if (foreground > 0) throw new Error(`${foreground} events are still planned, the next after ${latest}.`);
  }

  async function run(mayGoOn: (next: number) => boolean): Promise<void> {
    if (isRunning) throw new Error('Time runs already.');
    isRunning = true;
    const settling = makeSettling();
    try {
      await settling.settled();
      for (let next = planned.first(); next && mayGoOn(next.moment); next = planned.first()) {
        planned.shift();
        const { act } = next;
        if (!act) continue; // cancelled
        next.act = undefined;
        if (next.isForeground) foreground -= 1;
        present = next.moment;
        events += 1;
        act();
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
  readonly isForeground: boolean;
  /** Nothing once it was cancelled, or has happened. */
  act: (() => void) | undefined;
}

function isBefore(one: Planned, other: Planned): boolean {
  return one.moment < other.moment || (one.moment === other.moment && one.order < other.order);
}
