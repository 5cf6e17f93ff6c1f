import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from './clock.ts';

/** The clocks and timers of a process. */
export interface Time {
  readonly now: Clock;
  /** Returns the monotonic time in milliseconds. */
  readonly elapsed: () => number;
  readonly after: After;
  readonly pause: Pause;
  readonly turn: Turn;
}

/** Calls `callback` after this many milliseconds. Returns the function that cancels the timer. */
export type After = (milliseconds: number, callback: () => void) => () => void;

/** Resolves after this many milliseconds. Rejects if the signal aborts first. */
export type Pause = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Resolves in the next turn of the event loop, after pending events are handled. */
export type Turn = () => Promise<void>;

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
 * Creates timers that call back after pending events are handled, so a response that arrived while the process was busy is processed before
 * its timeout.
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

/** The system's timers that call back after pending events, for code that opens real sockets. */
export const afterEvents = makeAfterEvents(systemTime);

/** Resolves with the promise's value, or with `undefined` after this many milliseconds. */
export async function withTimeout<T>(after: After, promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let cancel = () => {};
  const timeout = new Promise<undefined>(resolve => {
    cancel = after(milliseconds, () => resolve(undefined));
  });
  return Promise.race([promise, timeout]).finally(cancel);
}

/** Runs work with a signal that aborts when the work settles, or with a `TimeoutError` after this many milliseconds. */
export async function withDeadline<T>(
  after: After,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const cancel = after(milliseconds, () => end.abort(new DOMException('The deadline has passed.', 'TimeoutError')));
  return work(end.signal).finally(() => {
    cancel();
    end.abort();
  });
}
