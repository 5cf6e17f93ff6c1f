import type { Clock } from '../../lambdas/platform/clock.ts';
import { systemTime, type Time } from '../../lambdas/platform/timer.ts';

/** A clock that stands still until a test moves it. */
export interface FrozenClock {
  readonly now: Clock;
  /** The time of a process that has this clock, and the machine's timers. */
  readonly time: Time;
  /** Moves the clock on by this many milliseconds. */
  advance(milliseconds: number): void;
  /** Sets the clock, in milliseconds since the epoch. */
  set(milliseconds: number): void;
}

/** Makes a frozen clock; it starts at noon on 20 November 2026 UTC unless told otherwise. */
export function frozenClock(start = Date.UTC(2026, 10, 20, 12)): FrozenClock {
  let moment = start;
  const now = () => moment;
  return {
    now,
    time: { ...systemTime, now },
    advance: milliseconds => {
      moment += milliseconds;
    },
    set: milliseconds => {
      moment = milliseconds;
    },
  };
}
