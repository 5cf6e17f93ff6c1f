import type { SeededRandom } from '../seeded-random.ts';
import type { VirtualTime } from '../time.ts';
import type { Costs } from './costs.ts';
import type { Note } from './record.ts';

/**
 * A process of a function, with a single thread. It handles arrivals in order, when the thread is free. Between
 * invocations the process is frozen, and arrivals wait. A dead process discards arrivals.
 */
export type Process = ReturnType<ReturnType<typeof makeProcesses>['start']>;

/** The clock and timers of a process. */
export interface ProcessTime {
  /** Returns the milliseconds since the epoch. The clock of a process may be wrong. */
  readonly now: () => number;
  /** Returns the milliseconds since the process started. */
  readonly elapsed: () => number;
  /** Calls `callback` after a delay. Returns a function that cancels the timer. */
  readonly after: (milliseconds: number, callback: () => void) => () => void;
  /** Resolves after a delay. Rejects if the signal aborts first. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** Resolves once the process has handled all current arrivals. */
  readonly turn: () => Promise<void>;
}

/**
 * Creates processes, and tracks the process that is running.
 *
 * @param skew - the maximum clock error in milliseconds, in either direction
 */
export function makeProcesses({ time, costs, note, randomOf }: ProcessContext, skew = 0) {
  let running: Process | undefined;
  return {
    /** Returns the running process. Between events, no process is running. */
    current: () => running,
    /** Records that no process is running. */
    clearCurrent: () => {
      running = undefined;
    },
    start,
  };

  function start(functionName: string, number: number) {
    const id = `${functionName}#${number}`;
    const random: Pick<SeededRandom, 'number' | 'bytes'> = randomOf(`process ${id}`);
    const clockError = Math.round((randomOf(`clock ${id}`).number() * 2 - 1) * skew);
    const startedAt = time.now();
    const inbox: (() => void)[] = [];
    let state: 'awake' | 'frozen' | 'dead' = 'awake';
    let diedAt = Number.POSITIVE_INFINITY;
    let freeAt = startedAt;
    let isWakeScheduled = false;
    let invocation = '';
    let notifyDeath = () => {};
    const processTime: ProcessTime = {
      now: () => Math.floor(time.now() + clockError),
      elapsed: () => time.now() - startedAt,
      after,
      pause,
      turn: () => new Promise(deliver),
    };
    const process = {
      id,
      functionName,
      random,
      time: processTime,
      /** Returns the id of the latest invocation. It is empty until the first invocation. */
      invocationId: () => invocation,
      isDead: () => state === 'dead',
      /** Returns the time of death, or infinity while the process is alive. */
      diedAt: () => diedAt,
      deliver,
      work,
      freeze: () => {
        if (state === 'awake') state = 'frozen';
      },
      thaw,
      kill,
      /** Sets the callback for the death of the process, and replaces any previous callback. */
      onDeath: (callback: () => void) => {
        notifyDeath = callback;
      },
    };
    note('process', `${id} starts`);
    return process;

    /** Delivers an arrival, such as a response or a timer. */
    function deliver(act: () => void): void {
      if (state === 'dead') return;
      inbox.push(act);
      scheduleWake();
    }

    function thaw(invocationId: string): void {
      invocation = invocationId;
      if (state === 'frozen') state = 'awake';
      scheduleWake();
    }

    function scheduleWake(): void {
      if (isWakeScheduled || state !== 'awake' || inbox.length === 0) return;
      isWakeScheduled = true;
      time.at(freeAt, wake);
    }

    function wake(): void {
      isWakeScheduled = false;
      if (state === 'awake' && freeAt <= time.now()) {
        running = process;
        inbox.shift()?.();
      }
      scheduleWake(); // for the next arrival, or for this one if the thread is still busy
    }

    /** Occupies the thread for an amount of work, in milliseconds of a whole core. Returns the time at which the thread is free again. */
    function work(milliseconds: number): number {
      freeAt = Math.max(freeAt, time.now()) + milliseconds / costs.coreShare;
      return freeAt;
    }

    function kill(reason: string): void {
      if (state === 'dead') return;
      state = 'dead';
      diedAt = time.now();
      inbox.length = 0;
      note('process', `${id} dies: ${reason}`);
      notifyDeath();
    }

    /** Starts a timer. As in Node, it truncates the delay to whole milliseconds, and waits at least one. */
    function after(milliseconds: number, callback: () => void): () => void {
      let isCancelled = false;
      const fire = () => {
        if (isCancelled) return;
        work(costs.timer);
        callback();
      };
      const cancel = time.after(Math.max(1, Math.trunc(milliseconds)), () => deliver(fire), true);
      return function cancelTimer() {
        isCancelled = true;
        cancel();
      };
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
}

interface ProcessContext {
  readonly time: Pick<VirtualTime, 'now' | 'at' | 'after'>;
  readonly costs: Pick<Costs, 'coreShare' | 'timer'>;
  readonly note: Note;
  readonly randomOf: (name: string) => SeededRandom;
}
