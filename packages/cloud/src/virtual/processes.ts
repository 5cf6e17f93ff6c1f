import type { SeededRandom } from '../seeded-random.ts';
import type { VirtualTime } from '../time.ts';
import type { Costs } from './costs.ts';
import type { Note } from './record.ts';

/**
 * A process of a function, with a single thread. It handles arrivals in order, once the thread is free. Between
 * invocations it is frozen, and arrivals wait until it is thawed. A dead process receives no more arrivals.
 */
export type Process = ReturnType<ReturnType<typeof makeProcesses>['start']>;

/** The time that a process's runtime provides. */
export interface ProcessTime {
  /** Returns whole milliseconds since the epoch, by a clock that may be wrong. */
  readonly now: () => number;
  /** Returns the milliseconds since the process started. */
  readonly elapsed: () => number;
  /** Calls back after this many milliseconds. Returns a function that cancels the callback. */
  readonly after: (milliseconds: number, callback: () => void) => () => void;
  /** Resolves after this many milliseconds. Rejects if the signal aborts first. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** Resolves once all current arrivals are handled. */
  readonly turn: () => Promise<void>;
}

/**
 * Creates processes, and tracks whose code runs: `undefined` between two events.
 *
 * @param skew - the maximum clock error in milliseconds, in both directions
 */
export function makeProcesses({ time, costs, note, randomOf }: ProcessWorld, skew = 0) {
  let running: Process | undefined;
  return {
    /** Returns the process whose code runs, if any. */
    current: () => running,
    /** Ends the turn of the process whose code ran. */
    leave: () => {
      running = undefined;
    },
    start,
  };

  function start(functionName: string, number: number) {
    const id = `${functionName}#${number}`;
    const random: Pick<SeededRandom, 'number' | 'bytes'> = randomOf(`process ${id}`);
    const clockError = Math.round((randomOf(`clock ${id}`).number() * 2 - 1) * skew);
    const began = time.now();
    const inbox: (() => void)[] = [];
    let state: 'awake' | 'frozen' | 'dead' = 'awake';
    let diedAt = Number.POSITIVE_INFINITY;
    let freeAt = began;
    let isWakePlanned = false;
    let invocation = '';
    let tellDeath = () => {};
    const own: ProcessTime = {
      now: () => Math.floor(time.now() + clockError),
      elapsed: () => time.now() - began,
      after,
      pause,
      turn: () => new Promise(deliver),
    };
    const process = {
      id,
      functionName,
      random,
      time: own,
      /** Returns the id of the latest invocation, which is empty while the process starts. */
      invocationId: () => invocation,
      isDead: () => state === 'dead',
      /** Returns the time of its death, or infinity while it is alive. */
      diedAt: () => diedAt,
      deliver,
      work,
      freeze: () => {
        if (state === 'awake') state = 'frozen';
      },
      thaw,
      kill,
      /** Calls back when it dies. A new callback replaces the previous one. */
      onDeath: (callback: () => void) => {
        tellDeath = callback;
      },
    };
    note('process', `${id} starts`);
    return process;

    /** Delivers an arrival, such as a response or a timer. */
    function deliver(act: () => void): void {
      if (state === 'dead') return;
      inbox.push(act);
      planWake();
    }

    function thaw(invocationId: string): void {
      invocation = invocationId;
      if (state === 'frozen') state = 'awake';
      planWake();
    }

    function planWake(): void {
      if (isWakePlanned || state !== 'awake' || inbox.length === 0) return;
      isWakePlanned = true;
      time.at(freeAt, wake);
    }

    function wake(): void {
      isWakePlanned = false;
      if (state === 'awake' && freeAt <= time.now()) {
        running = process;
        inbox.shift()?.();
      }
      planWake(); // for the next one, or for this one if the thread was given more work meanwhile
    }

    /** Occupies the thread for this long on a whole core. Returns the time at which all its work is done. */
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
      tellDeath();
    }

    /** Rounds to whole milliseconds, at least one, as Node's own timers do. */
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

interface ProcessWorld {
  readonly time: Pick<VirtualTime, 'now' | 'at' | 'after'>;
  readonly costs: Pick<Costs, 'coreShare' | 'timer'>;
  readonly note: Note;
  readonly randomOf: (name: string) => SeededRandom;
}
