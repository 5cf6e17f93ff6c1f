import { type Random, systemRandom } from '../../../../lambdas/platform/random.ts';
import type { Time } from '../../../../lambdas/platform/timer.ts';
import type { FrozenClock } from '../../../support/clock.ts';
import { makeVirtualTime, type VirtualTimer } from '../../../support/virtual-timers.ts';

/** A step at which a process dies: this many calls from now, before or after the call has its effect. */
export interface Crash {
  readonly afterCalls: number;
  readonly hasEffect: boolean;
}

/** A process of a function. */
export interface Process {
  readonly time: Time;
  readonly random: Random;
  /** Makes a call that leaves the process. It may be its last: a process that died hears of nothing any more. */
  readonly call: <Result>(effect: () => Promise<Result>) => Promise<Result>;
  /** Lets no time pass before some work is done. */
  readonly hold: <Result>(work: Promise<Result>) => Promise<Result>;
  /** Runs an invocation. False: the process died in it. */
  readonly run: (invocation: () => Promise<unknown>, crash?: Crash) => Promise<boolean>;
}

/**
 * Returns the function that starts processes which share a clock. Time passes where the test moves the clock, and where a running
 * process waits for nothing but timers: the first timer of all then fires at its time.
 */
export function makeProcesses(clock: FrozenClock): () => Process {
  const running = new Set<Set<VirtualTimer>>();
  let started = 0;

  return function startProcess() {
    const timers = new Set<VirtualTimer>();
    const calls = new Set<Promise<unknown>>();
    const number = ++started;
    let crash: Crash | undefined;
    let die = () => {};
    let isDead = false;
    let held = 0;
    let isToPass = false;

    const time = makeVirtualTime(clock.now, { add: addTimer, delete: timer => timers.delete(timer) }, hold);
    // Jitter is alike everywhere, and the ids that processes draw still differ.
    const random = { bytes: systemRandom.bytes, number: () => 0.5 + number * 2 ** -44 };
    return { time, random, call, hold, run };

    function addTimer(timer: VirtualTimer): void {
      if (!isDead) timers.add(timer);
      passTime();
    }

    async function call<Result>(effect: () => Promise<Result>): Promise<Result> {
      if (isDead) return nothing();
      const isLast = crash?.afterCalls === 0;
      const hasEffect = crash?.hasEffect ?? true;
      if (crash) crash = { ...crash, afterCalls: crash.afterCalls - 1 };
      isDead = isLast;
      if (isLast && !hasEffect) {
        die();
        return nothing();
      }
      const result = effect();
      calls.add(result);
      await Promise.allSettled([hold(result)]);
      calls.delete(result);
      if (isLast) die();
      return isDead ? nothing() : result;
    }

    function hold<Result>(work: Promise<Result>): Promise<Result> {
      held += 1;
      return work.finally(() => {
        held -= 1;
        passTime();
      });
    }

    /** What had left a process when it died still arrives. */
    async function run(invocation: () => Promise<unknown>, planned?: Crash): Promise<boolean> {
      const { promise: death, resolve } = Promise.withResolvers<false>();
      crash = planned;
      die = () => resolve(false);
      running.add(timers);
      passTime();
      try {
        return await Promise.race([invocation().then(() => true), death]);
      } finally {
        crash = undefined;
        running.delete(timers);
        timers.clear();
        await Promise.allSettled(calls);
      }
    }

    /** Lets time pass once the process has nothing else to do than to wait for it. */
    function passTime(): void {
      if (isToPass) return;
      isToPass = true;
      setImmediate(() => {
        isToPass = false;
        if (held > 0 || !running.has(timers) || timers.size === 0) return;
        fireFirst();
        passTime();
      });
    }
  };

  /** Fires the first of all timers: time passes for the other processes, too. */
  function fireFirst(): void {
    const due = [...running].flatMap(timers => [...timers].map(timer => ({ timer, timers })));
    const [first] = due.toSorted((one, other) => one.timer.at - other.timer.at);
    if (!first) return;
    clock.set(Math.max(clock.now(), first.timer.at));
    first.timers.delete(first.timer);
    first.timer.callback();
  }
}

function nothing<Result>(): Promise<Result> {
  return new Promise<never>(() => {});
}
