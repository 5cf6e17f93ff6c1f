import type { Time } from './timer.ts';

export type EventLoopLag = ReturnType<typeof makeEventLoopLag>;

/** Makes the measure of how late the timers of this process are. Its own timer runs only while somebody watches, so that a frozen process counts for nothing. */
export function makeEventLoopLag({ elapsed: clock, after }: Pick<Time, 'elapsed' | 'after'>) {
  const watches = new Set<{ readonly begunAt: number; lateness: number }>();
  let cancelTimer = () => {};
  let expectedAt = 0;
  return { begin };

  /** Begins to watch. `end` must be called. What was measured since then is in milliseconds. */
  function begin() {
    const watch = { begunAt: clock(), lateness: 0 };
    if (watches.size === 0) startTimer(watch.begunAt);
    watches.add(watch);
    return { lateness, elapsed, end };

    /** Returns the time by which timers were late: this process heard no receiver then. Another timer may run before the overdue one. */
    function lateness(): number {
      return watch.lateness + latenessSince(watch.begunAt, clock());
    }

    /** Returns all other time: a clock that stands still while this process does. */
    function elapsed(): number {
      return Math.min(clock(), dueAfter(watch.begunAt)) - watch.begunAt - watch.lateness;
    }

    function end(): void {
      watches.delete(watch);
      if (watches.size === 0) cancelTimer();
    }
  }

  function startTimer(now: number): void {
    expectedAt = now + interval;
    cancelTimer = after(interval, function tick() {
      const firedAt = clock();
      for (const watch of watches) watch.lateness += latenessSince(watch.begunAt, firedAt);
      startTimer(firedAt);
    });
  }

  /** Returns by how much the timer is late, as far as that lies after a moment. */
  function latenessSince(moment: number, now: number): number {
    return now - expectedAt < leastLateness ? 0 : now - dueAfter(moment);
  }

  /** Returns the moment when the timer is due; from a moment after that on it is late at once. */
  function dueAfter(moment: number): number {
    return Math.max(expectedAt, moment);
  }
}

/** The interval of the timer, in milliseconds. */
const interval = 100;

/** Every timer is a little late. From here on that counts, in milliseconds. */
const leastLateness = 50;
