import { lateTimer } from '../limits.ts';

/** Tells whether the event loop of this process lagged: what it measured meanwhile says nothing about receivers. */
export interface EventLoopLag {
  /** Begins to watch; `wasLate` tells whether a timer has fired too late since. `end` must be called. */
  begin(): { wasLate(): boolean; end(): void };
}

/** Watches the process's timers. It runs only while somebody watches, so that a frozen process counts for nothing. */
export function makeEventLoopLag(clock: () => number = () => performance.now()): EventLoopLag {
  let watchers = 0;
  let timer: NodeJS.Timeout | undefined;
  let expectedAt = 0;
  let lateAt = Number.NEGATIVE_INFINITY;

  return {
    begin() {
      const begunAt = clock();
      if (watchers === 0) startTimer(begunAt);
      watchers += 1;
      return {
        wasLate() {
          noteLateness(clock()); // another timer may run before the overdue one
          return lateAt >= begunAt;
        },
        end() {
          watchers -= 1;
          if (watchers === 0) clearTimeout(timer);
        },
      };
    },
  };

  function startTimer(now: number): void {
    expectedAt = now + interval;
    timer = setTimeout(function tick() {
      const firedAt = clock();
      noteLateness(firedAt);
      startTimer(firedAt);
    }, interval);
  }

  function noteLateness(now: number): void {
    if (now - expectedAt > lateTimer) lateAt = now;
  }
}

/** How often the timer fires, in milliseconds. */
const interval = 100;
