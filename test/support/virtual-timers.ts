import type { Clock } from '../../lambdas/platform/clock.ts';
import { systemTime, type Time } from '../../lambdas/platform/timer.ts';

/** What a process waits for, on a clock that a test moves. */
export interface VirtualTimer {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly callback: () => void;
}

/** Where a process's timers stand until they have called back. */
interface VirtualTimers {
  readonly add: (timer: VirtualTimer) => void;
  readonly delete: (timer: VirtualTimer) => void;
}

/**
 * Makes the time of a process whose timers call back when a test says so. The machine's own event loop turns: `during` is told of
 * it, as of calls.
 */
export function makeVirtualTime(
  now: Clock,
  timers: VirtualTimers,
  during: <Result>(call: Promise<Result>) => Promise<Result>,
): Time {
  return { now, elapsed: now, after, pause, turn: () => during(systemTime.turn()) };

  function after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: now() + Math.max(1, Math.ceil(milliseconds)), callback }; // a clock shows whole milliseconds
    timers.add(timer);
    return () => timers.delete(timer);
  }

  function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const cancel = after(milliseconds, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      signal?.addEventListener('abort', abort, { once: true });

      function abort(): void {
        cancel();
        reject(signal?.reason);
      }
    });
  }
}
