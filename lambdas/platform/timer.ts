import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from './clock.ts';

/** The time of a process. */
export interface Time {
  readonly now: Clock;
  /** The time in milliseconds since some moment, which never goes back. */
  readonly elapsed: () => number;
  readonly after: After;
  /** Resolves after this many milliseconds. Rejects where the signal aborts first. */
  readonly pause: Pause;
  readonly turn: Turn;
}

/** Calls back after this many milliseconds. Returns the function that cancels that. */
export type After = (milliseconds: number, callback: () => void) => () => void;

/** Resolves after this many milliseconds. Rejects where the signal aborts first. */
export type Pause = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Resolves in the next turn of the event loop, once the events that have come are handled. */
export type Turn = () => Promise<void>;

/** The machine's own time. */
export const systemTime: Time = {
  now: systemClock,
  elapsed: () => performance.now(),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
  pause: (milliseconds, signal) => sleep(milliseconds, undefined, signal && { signal }),
  turn: () => new Promise(resolve => setImmediate(resolve)),
};

/**
 * Makes timers that call back once the events of their time are handled: an answer that has come while the process was busy is read
 * before it is missed.
 */
export function makeAfterEvents({ after, turn }: Pick<Time, 'after' | 'turn'>): After {
  return function afterEvents(milliseconds, callback) {
    let isCancelled = false;
    const cancelTimer = after(milliseconds, async () => {
      await turn();
      if (!isCancelled) callback();
    });
    return function cancel() {
      isCancelled = true;
      cancelTimer();
    };
  };
}

/** The machine's own timers of that kind, for what stands on sockets of its own. */
export const afterEvents = makeAfterEvents(systemTime);

/** Returns the promise's value, or `undefined` when it takes longer. */
export async function withTimeout<T>(after: After, promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let cancel = () => {};
  const timeout = new Promise<undefined>(resolve => {
    cancel = after(milliseconds, () => resolve(undefined));
  });
  return Promise.race([promise, timeout]).finally(cancel);
}

/** Does work that a signal ends: it aborts with a `TimeoutError` after this many milliseconds, and where a part of the work failed. */
export async function withDeadline<T>(
  after: After,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const cancel = after(milliseconds, () => end.abort(new DOMException('The time is over.', 'TimeoutError')));
  return work(end.signal).finally(() => {
    cancel();
    end.abort();
  });
}
