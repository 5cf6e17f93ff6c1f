import { lateTimer } from '../limits.ts';

/** Tells whether this process itself was behind: what it measured meanwhile says nothing about receivers. */
export interface EventLoopLag {
  /** Begins to watch; `wasLate` tells whether a timer has fired too late since. `end` must be called. */
  begin(): { wasLate(): boolean; end(): void };
}

/** Makes a watch over the process's timers. It runs only while somebody watches, so that a frozen process counts for nothing. */
export function makeEventLoopLag(clock: () => number = () => performance.now()): EventLoopLag {
  let watchers = 0;
  let timer: NodeJS.Timeout | undefined;
  let expectedAt = 0;
  let lateAt = Number.NEGATIVE_INFINITY;

  const isOverdue = (now: number): boolean => now - expectedAt > lateTimer;
  const tick = () => {
    const now = clock();
    if (isOverdue(now)) lateAt = now;
    expectedAt = now + beat;
    timer = setTimeout(tick, beat);
  };
  return {
    begin() {
      const begunAt = clock();
      if (watchers === 0) {
        expectedAt = begunAt + beat;
        timer = setTimeout(tick, beat);
      }
      watchers += 1;
      return {
        wasLate() {
          const now = clock();
          // Another timer may run before the overdue one.
          if (isOverdue(now)) lateAt = now;
          return lateAt >= begunAt;
        },
        end() {
          watchers -= 1;
          if (watchers === 0) clearTimeout(timer);
        },
      };
    },
  };
}

/** How often a timer is tried, in milliseconds. */
const beat = 100;
