import type { ProcessTime } from './processes.ts';
import type { SeededRandom } from './seeded-random.ts';

/** The process whose code runs. */
interface Running {
  readonly time: ProcessTime;
  readonly random: Pick<SeededRandom, 'number'>;
}

/**
 * Replaces the globals that tell time, set timers and draw chance, while the code of a virtual process runs: libraries are given
 * those of the process. Code of one's own should take what it is given, and an error says where it did not. What processes write to
 * the standard output becomes lines of the log. Everything else of the program has the machine's own. Returns what undoes it.
 *
 * @param isOwn - tells one's own files, by path, from those of libraries
 */
export function guardGlobals<Process extends Running>({
  current,
  isOwn,
  writeLog,
}: {
  readonly current: () => Process | undefined;
  readonly isOwn: (file: string) => boolean;
  readonly writeLog: (process: Process, text: string) => void;
}): () => void {
  const { Date: RealDate, performance, process } = globalThis;
  const { now: realNow } = performance;
  const { random: realRandom } = Math;
  const realWrite = process.stdout.write.bind(process.stdout);
  const now = guarded('Date.now', ({ time }) => time.now(), RealDate.now);
  const undo = [
    replace(globalThis, 'Date', virtualDate(now)),
    replace(
      performance,
      'now',
      guarded('performance.now', ({ time }) => time.elapsed(), realNow.bind(performance)),
    ),
    replace(
      Math,
      'random',
      guarded('Math.random', ({ random }) => random.number(), realRandom),
    ),
    replace(globalThis, 'setTimeout', guardedTimer('setTimeout', globalThis.setTimeout)),
    replace(globalThis, 'setInterval', guardedTimer('setInterval', globalThis.setInterval)),
    replace(globalThis, 'setImmediate', guardedTimer('setImmediate', globalThis.setImmediate)),
    replace(globalThis, 'clearTimeout', clearing(globalThis.clearTimeout)),
    replace(globalThis, 'clearInterval', clearing(globalThis.clearInterval)),
    replace(globalThis, 'clearImmediate', clearing(globalThis.clearImmediate)),
    replace(process.stdout, 'write', write),
  ];
  return function restore() {
    for (const undoOne of undo) undoOne();
  };

  function write(text: string | Uint8Array, ...rest: []): boolean {
    const running = current();
    if (!running) return realWrite(text, ...rest);
    writeLog(running, typeof text === 'string' ? text : Buffer.from(text).toString());
    return true;
  }

  /** A function of the machine, and what stands in for it in a virtual process. */
  function guarded<Result>(name: string, ofProcess: (running: Process) => Result, real: () => Result): () => Result {
    return () => {
      const running = current();
      if (!running) return real();
      refuseOwn(name);
      return ofProcess(running);
    };
  }

  function guardedTimer(name: keyof typeof setters, real: (...given: never) => unknown) {
    return (callback: Callback, ...rest: unknown[]): unknown => {
      const running = current();
      if (!running) return Reflect.apply(real, undefined, [callback, ...rest]);
      refuseOwn(name);
      return setters[name](running.time, callback, rest);
    };
  }

  function refuseOwn(name: string): void {
    const file = callingFile();
    if (file !== undefined && isOwn(file)) throw new Error(`${file} asks the machine for ${name} in virtual time.`);
  }
}

/** The date of a class that reads the time from elsewhere. */
function virtualDate(now: () => number): DateConstructor {
  return new Proxy(Date, {
    construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    apply: target => new target(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}

const setters = {
  setTimeout: (time: ProcessTime, callback: Callback, [delay, ...given]: unknown[]) =>
    new VirtualTimer(time.after(Number(delay ?? 0) || 0, () => callback(...given))),
  setImmediate: (time: ProcessTime, callback: Callback, given: unknown[]) =>
    new VirtualTimer(time.after(0, () => callback(...given))),
  setInterval: (time: ProcessTime, callback: Callback, [delay, ...given]: unknown[]) => {
    const milliseconds = Number(delay ?? 0) || 0;
    let cancel = time.after(milliseconds, tick);
    return new VirtualTimer(() => cancel());

    function tick(): void {
      cancel = time.after(milliseconds, tick);
      callback(...given);
    }
  },
};

type Callback = (...given: unknown[]) => void;

/** What a virtual process has in place of Node's timers. */
class VirtualTimer {
  readonly cancel: () => void;

  constructor(cancel: () => void) {
    this.cancel = cancel;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}

function clearing(real: (...given: never) => unknown) {
  return function clear(timer: unknown): void {
    if (timer instanceof VirtualTimer) timer.cancel();
    else Reflect.apply(real, undefined, [timer]);
  };
}

/** Returns the file of the code that called this one. */
function callingFile(): string | undefined {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const holder: { stack?: unknown } = {};
  try {
    Error.stackTraceLimit = 8;
    Error.prepareStackTrace = (_, frames) =>
      frames
        .map(frame => frame.getFileName()?.replace(/^file:\/\//, ''))
        .find(file => file !== undefined && file !== import.meta.filename);
    Error.captureStackTrace(holder);
    return typeof holder.stack === 'string' ? holder.stack : undefined;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function replace(owner: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, {
    value,
    writable: true,
    configurable: true,
    enumerable: before?.enumerable ?? false,
  });
  return function undo() {
    if (before) Object.defineProperty(owner, name, before);
    else Reflect.deleteProperty(owner, name);
  };
}
