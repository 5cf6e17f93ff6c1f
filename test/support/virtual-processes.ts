import type { Clock } from '../../lambdas/platform/clock.ts';
import { systemTime, type Time } from '../../lambdas/platform/timer.ts';
import { makeVirtualTime, type VirtualTimer } from './virtual-timers.ts';

/** Processes on a clock that a test moves. */
export type VirtualProcesses = ReturnType<typeof makeVirtualProcesses>;

/**
 * Makes processes that wait in virtual time: a timer calls back when the test says so, once the clock shows its time. What leads out
 * of a process is real, and `during` tells of it: as long as it lasts, time stands still.
 */
export function makeVirtualProcesses(now: Clock) {
  const processes = new Set<Timers>();
  const failures: unknown[] = [];
  let callsUnderWay = 0;
  return { start, during, nextTimer, callBack, untilAllWait };

  /** Starts a process. Its timers end with its work. */
  function start(work: (time: Time) => Promise<unknown>): void {
    const timers: Timers = new Set();
    processes.add(timers);
    work(makeVirtualTime(now, timers, during))
      .catch(error => failures.push(error))
      .finally(() => processes.delete(timers));
  }

  /** Returns what a call returns. Until then no process only waits for timers. */
  async function during<Result>(call: Promise<Result>): Promise<Result> {
    callsUnderWay += 1;
    return call.finally(() => {
      callsUnderWay -= 1;
    });
  }

  /** Returns the time of the first timer, or infinity. */
  function nextTimer(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const timers of processes) for (const { at } of timers) first = Math.min(first, at);
    return first;
  }

  /** Calls back by all timers whose time has come. */
  function callBack(): void {
    const due = [...processes].flatMap(timers =>
      [...timers].filter(({ at }) => at <= now()).map(timer => ({ timer, timers })),
    );
    for (const { timer, timers } of due) if (timers.delete(timer)) timer.callback();
  }

  /** Resolves once all processes have ended or wait for timers alone. @throws what a process threw. */
  async function untilAllWait(): Promise<void> {
    do await systemTime.turn();
    while (callsUnderWay > 0);
    if (failures.length > 0) throw failures[0];
  }
}

/** The timers of a process. */
type Timers = Set<VirtualTimer>;
