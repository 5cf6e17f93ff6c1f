import { systemTime } from '../../lambdas/platform/timer.ts';

export type FrozenClock = ReturnType<typeof frozenClock>;

/** Creates a clock that only tests advance. By default, it starts at noon UTC on 20 November 2026. */
export function frozenClock(start = Date.UTC(2026, 10, 20, 12)) {
  let moment = start;
  const now = () => moment;
  /** Sets the clock, in milliseconds since the epoch. */
  const set = (milliseconds: number): void => {
    moment = milliseconds;
  };
  /** Advances the clock by this many milliseconds. */
  const advance = (milliseconds: number) => set(moment + milliseconds);
  /** `time` has this clock and the system's timers. */
  return { now, time: { ...systemTime, now }, advance, set };
}
