import type { Costs } from './costs.ts';
import type { Note } from './record.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { VirtualTime } from './time.ts';

/**
 * A process of a function: a single thread. What arrives is handled in the order of arrival, once the thread is free. It is frozen
 * between invocations, and then nothing reaches it until it is thawed. Once it is dead nothing reaches it any more.
 */
export interface Process {
  readonly id: string;
  readonly functionName: string;
  /** Returns the id of the latest invocation; it is empty while the process starts. */
  readonly invocationId: () => string;
  readonly time: ProcessTime;
  readonly random: Pick<SeededRandom, 'number' | 'bytes'>;
  readonly isDead: () => boolean;
  /** The moment of its death; never, so far: infinity. */
  readonly diedAt: () => number;
  /** Hands over what arrives: an answer, a timer. */
  readonly deliver: (act: () => void) => void;
  /** The thread works for this long on a whole core. Returns the moment when it is done with all that it was given. */
  readonly work: (milliseconds: number) => number;
  readonly freeze: () => void;
  /** Begins an invocation. */
  readonly thaw: (invocationId: string) => void;
  readonly kill: (reason: string) => void;
  /** Calls back when it dies; the latest callback counts. */
  readonly onDeath: (callback: () => void) => void;
}

/** The time of a process, as it leads out of it. */
export interface ProcessTime {
  /** Whole milliseconds since the epoch, by a clock that may be wrong. */
  readonly now: () => number;
  /** Milliseconds since the process began. */
  readonly elapsed: () => number;
  /** Calls back after this many milliseconds. Returns the function that cancels that. */
  readonly after: (milliseconds: number, callback: () => void) => () => void;
  /** Resolves after this many milliseconds. Rejects where the signal aborts first. */
  readonly pause: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** Resolves once what has arrived is handled. */
  readonly turn: () => Promise<void>;
}

/** Makes processes, and knows whose code runs: between two events there is none. */
export function makeProcesses({
  costs,
  note,
  skew,
  randomOf,
}: {
  readonly costs: Pick<Costs, 'coreShare' | 'timer'>;
  readonly note: Note;
  /** Clocks are wrong by up to this many milliseconds, in both directions. */
  readonly skew: number;
  readonly randomOf: (name: string) => SeededRandom;
}) {
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

  function start(time: VirtualTime, functionName: string, number: number): Process {
    const id = `${functionName}#${number}`;
    const random = randomOf(`process ${id}`);
    const clockError = Math.round((randomOf(`clock ${id}`).number() * 2 - 1) * skew);
    const began = time.now();
    const inbox: (() => void)[] = [];
    let state: 'awake' | 'frozen' | 'dead' = 'awake';
    let diedAt = Number.POSITIVE_INFINITY;
    let freeAt = began;
    let isWakePlanned = false;
    let invocation = '';
    let tellDeath = () => {};
    const process: Process = {
      id,
      functionName,
      invocationId: () => invocation,
      random,
      time: {
        now: () => Math.floor(time.now() + clockError),
        elapsed: () => time.now() - began,
        after,
        pause,
        turn: () => new Promise(deliver),
      },
      isDead: () => state === 'dead',
      diedAt: () => diedAt,
      deliver,
      work,
      freeze: () => {
        if (state === 'awake') state = 'frozen';
      },
      thaw: invocationId => {
        invocation = invocationId;
        if (state === 'frozen') state = 'awake';
        planWake();
      },
      kill,
      onDeath: callback => {
        tellDeath = callback;
      },
    };
    note('process', `${id} starts`);
    return process;

    function deliver(act: () => void): void {
      if (state === 'dead') return;
      inbox.push(act);
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
      planWake(); // for the next one, or for this one where the thread was given more work meanwhile
    }

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

    /** As Node's own timers do, it takes whole milliseconds, and one at least. */
    function after(milliseconds: number, callback: () => void): () => void {
      let isCancelled = false;
      const cancel = time.after(Math.max(1, Math.trunc(milliseconds)), () =>
        deliver(() => {
          if (isCancelled) return;
          work(costs.timer);
          callback();
        }),
      );
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
