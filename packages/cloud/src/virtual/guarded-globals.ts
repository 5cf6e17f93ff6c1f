import type { SeededRandom } from '../seeded-random.ts';
import type { ProcessTime } from './processes.ts';

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
  const { performance, process } = globalThis;
  const now = guarded('Date.now', Date.now, ({ time }) => time.now());
  const realWrite = process.stdout.write.bind(process.stdout);
  const undo = [
    replace(globalThis, 'Date', virtualDate(now)),
    replace(
      performance,
      'now',
      guarded('performance.now', performance.now, ({ time }) => time.elapsed(), performance),
    ),
    replace(
      Math,
      'random',
      guarded('Math.random', Math.random, ({ random }) => random.number()),
    ),
    replace(globalThis, 'setTimeout', guarded('setTimeout', setTimeout, startTimer)),
    replace(globalThis, 'setInterval', guarded('setInterval', setInterval, startInterval)),
    replace(
      globalThis,
      'setImmediate',
      guarded('setImmediate', setImmediate, (running, [callback, ...given]) =>
        startTimer(running, [callback, 0, ...given]),
      ),
    ),
    replace(globalThis, 'clearTimeout', clearing(clearTimeout)),
    replace(globalThis, 'clearInterval', clearing(clearInterval)),
    replace(globalThis, 'clearImmediate', clearing(clearImmediate)),
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
  function guarded<Result>(
    name: string,
    real: (...given: never[]) => unknown,
    virtual: (running: Process, given: unknown[]) => Result,
    owner?: object,
  ) {
    return (...given: unknown[]): Result => {
      const running = current();
      if (!running) return Reflect.apply(real, owner, given);
      const file = callingFile();
      if (file === undefined || !isOwn(file)) return virtual(running, given);
      throw new Error(`${file} asks the machine for ${name} in virtual time.`);
    };
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

function startTimer({ time }: Running, [callback, delay, ...given]: unknown[]): VirtualTimer {
  return new VirtualTimer(time.after(Number(delay) || 0, () => call(callback, given)));
}

function startInterval({ time }: Running, [callback, delay, ...given]: unknown[]): VirtualTimer {
  let cancel = time.after(Number(delay) || 0, tick);
  return new VirtualTimer(() => cancel());

  function tick(): void {
    cancel = time.after(Number(delay) || 0, tick);
    call(callback, given);
  }
}

function call(callback: unknown, given: unknown[]): void {
  if (typeof callback === 'function') callback(...given);
}

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

function clearing(real: (...given: never[]) => unknown) {
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
    Error.prepareStackTrace = (_, frames) => {
      const files = frames.map(frame => frame.getFileName()?.replace(/^file:\/\//, ''));
      return files.find(file => file !== undefined && file !== import.meta.filename);
    };
    Error.captureStackTrace(holder);
    return typeof holder.stack === 'string' ? holder.stack : undefined;
  } finally {
    Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  }
}

function replace(owner: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  const enumerable = before?.enumerable ?? false;
  Object.defineProperty(owner, name, { value, writable: true, configurable: true, enumerable });
  return function undo() {
    if (before) Object.defineProperty(owner, name, before);
    else Reflect.deleteProperty(owner, name);
  };
}
