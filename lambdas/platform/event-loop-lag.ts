/** Measures by how much the timers of this process are late. */
export interface EventLoopLag {
  /** Begins to watch. `end` must be called. */
  begin(): LagWatch;
}

/** Makes the measure. Its timer runs only while somebody watches, so that a frozen process counts for nothing. */
export function makeEventLoopLag(clock: () => number = () => performance.now()): EventLoopLag {
  const watches = new Set<{ readonly begunAt: number; lateness: number }>();
  let timer: NodeJS.Timeout | undefined;
  let expectedAt = 0;

  return {
    begin() {
      const watch = { begunAt: clock(), lateness: 0 };
      if (watches.size === 0) startTimer(watch.begunAt);
      watches.add(watch);
      return {
        // Another timer may run before the overdue one.
        lateness: () => watch.lateness + latenessSince(watch.begunAt, clock()),
        elapsed: () => Math.min(clock(), dueAfter(watch.begunAt)) - watch.begunAt - watch.lateness,
        end() {
          watches.delete(watch);
          if (watches.size === 0) clearTimeout(timer);
        },
      };
    },
  };

  function startTimer(now: number): void {
    expectedAt = now + interval;
    timer = setTimeout(function tick() {
      const firedAt = clock();
      for (const watch of watches) watch.lateness += latenessSince(watch.begunAt, firedAt);
      startTimer(firedAt);
    }, interval);
  }

  /** By how much the timer is late, as far as that lies after a moment. */
  function latenessSince(moment: number, now: number): number {
    return now - expectedAt < leastLateness ? 0 : now - dueAfter(moment);
  }

  /** When the timer is due; from a moment after that on it is late at once. */
  function dueAfter(moment: number): number {
    return Math.max(expectedAt, moment);
  }
}

/** What was measured since the watch began, in milliseconds. */
interface LagWatch {
  /** The time by which timers were late: this process heard no receiver then. */
  lateness(): number;
  /** All other time: a clock that stands still while this process does. */
  elapsed(): number;
  end(): void;
}

/** How often the timer fires, in milliseconds. */
const interval = 100;

/** Every timer is a little late. From here on that counts, in milliseconds. */
const leastLateness = 50;
