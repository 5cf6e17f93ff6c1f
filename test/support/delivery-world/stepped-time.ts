import type { VirtualCloud } from '@emissor/cloud/virtual';
import { systemTime, type Time } from '../../../lambdas/platform/timer.ts';

/** Makes what has the time of a virtual cloud run while something goes on, also where several things do, one within the other. */
export function makeSteppedTime({ now, at, run, runUntilSo }: Pick<VirtualCloud, 'now' | 'at' | 'run' | 'runUntilSo'>) {
  const underWay = new Set<unknown>();
  let isRunning = false;
  /** The time of who acts past all processes. */
  const time: Pick<Time, 'now' | 'elapsed' | 'pause' | 'turn'> = {
    now,
    elapsed: now,
    turn: systemTime.turn,
    pause: milliseconds => new Promise(resolve => void at(now() + milliseconds, resolve)),
  };
  return { during, leave, runTo, time };

  /** Lets time run until some work has ended, and returns what it returns. */
  async function during<Result>(work: Promise<Result>): Promise<Result> {
    underWay.add(work);
    const end = () => leave(work);
    work.then(end, end);
    if (isRunning) return work;
    const passed = running(() => runUntilSo(() => underWay.size === 0));
    return Promise.race([work, passed.then(() => work)]); // time may run on for others
  }

  /** Time does not run for this any longer. */
  function leave(work: Promise<unknown>): void {
    underWay.delete(work);
  }

  /** Lets time run to a moment. What goes on meanwhile waits for it. */
  async function runTo(moment: number): Promise<void> {
    if (isRunning) await during(new Promise<void>(resolve => void at(moment, resolve)));
    else await running(() => run(moment));
  }

  async function running(passTime: () => Promise<unknown>): Promise<void> {
    isRunning = true;
    try {
      await passTime();
    } finally {
      isRunning = false;
    }
  }
}
