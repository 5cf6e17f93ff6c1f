import type { FunctionDefinition } from './definition.ts';
import type { FunctionError, InvocationOutcome, Invoke } from './invocation.ts';
import { type FunctionProcess, startProcess } from './process.ts';
import type { RuntimeContext } from './runtime-context.ts';

/** A function in the template. */
export interface LocalFunction {
  readonly definition: FunctionDefinition;
  /** The maximum number of concurrent invocations. Further invocations wait. */
  readonly concurrency: number;
  readonly invoke: Invoke;
  /** Resolves when no invocation is running or waiting. */
  drain(): Promise<void>;
  /** Ends all processes. Running and waiting invocations fail. */
  end(): void;
}

/** The parts of a run that functions use. */
export interface FunctionHost {
  readonly runtimeContext: RuntimeContext;
  /** The lock for starting processes, which all functions of a run share. */
  readonly startLock: StartLock;
  readonly onLine: (definition: FunctionDefinition, line: string) => void;
}

/** Acquires the lock, in call order. Returns a function that releases it. */
type StartLock = () => Promise<() => void>;

/**
 * Creates a lock that lets the processes of a run start one at a time. Loading a bundle keeps a core busy, so many
 * simultaneous starts would time out on a busy computer.
 */
export function makeStartLock(): StartLock {
  let previous: Promise<void> = Promise.resolve();
  return async function acquire() {
    const predecessor = previous;
    const { promise, resolve } = Promise.withResolvers<void>();
    previous = promise;
    await predecessor;
    return resolve;
  };
}

/**
 * Creates a function. It starts processes on demand and reuses the most recently used process first. A process
 * ends after `idleLifetime` without an invocation.
 */
export function makeLocalFunction(definition: FunctionDefinition, host: FunctionHost, concurrency = 16): LocalFunction {
  const waiting: Waiting[] = [];
  const idle: { readonly process: FunctionProcess; readonly idleTimer: NodeJS.Timeout }[] = [];
  const processes = new Set<FunctionProcess>();
  const inFlight = new Set<Promise<InvocationOutcome>>();
  let isStarting = false;
  let hasEnded = false;
  return {
    definition,
    concurrency,
    invoke: payload => {
      if (hasEnded) return Promise.resolve(runEnded);
      const { promise, resolve } = Promise.withResolvers<InvocationOutcome>();
      inFlight.add(promise);
      waiting.push({ payload, resolve });
      serveWaiting();
      return promise.finally(() => inFlight.delete(promise));
    },
    drain: async () => void (await Promise.all(inFlight)),
    end: () => {
      hasEnded = true;
      for (const { resolve } of waiting.splice(0)) resolve(runEnded);
      for (const process of processes) process.end();
    },
  };

  function serveWaiting(): void {
    const process = waiting.length > 0 ? idle.at(-1)?.process : undefined;
    const next = process && waiting.shift();
    if (next) void serve(process, next);
    else void startNeeded();
  }

  async function serve(process: FunctionProcess, { payload, resolve }: Waiting): Promise<void> {
    removeIdle(process);
    resolve(await process.invoke(payload));
    if (processes.has(process)) markIdle(process);
  }

  function markIdle(process: FunctionProcess): void {
    const idleTimer = setTimeout(() => {
      removeIdle(process); // an ending process must not receive an invocation
      process.end();
    }, idleLifetime).unref();
    idle.push({ process, idleTimer });
    serveWaiting();
  }

  function removeIdle(process: FunctionProcess): void {
    const at = idle.findIndex(one => one.process === process);
    if (at >= 0) clearTimeout(idle.splice(at, 1)[0]?.idleTimer);
  }

  function needsProcess(): boolean {
    return !hasEnded && waiting.length > 0 && processes.size < concurrency;
  }

  /** Starts the processes that waiting invocations need, one at a time, so that the starts do not delay other functions. */
  async function startNeeded(): Promise<void> {
    if (isStarting) return;
    isStarting = true;
    while (needsProcess()) {
      const release = await host.startLock();
      const error = needsProcess() ? await start() : undefined;
      release();
      if (error) waiting.shift()?.resolve({ outcome: 'failed', error });
    }
    isStarting = false;
  }

  /** Starts a process. Resolves when the process is ready, or with the error if it ends first. */
  function start(): Promise<FunctionError | undefined> {
    const { promise, resolve } = Promise.withResolvers<FunctionError | undefined>();
    const process = startProcess(definition, host.runtimeContext, {
      onReady: () => {
        markIdle(process);
        resolve(undefined);
      },
      onExit: error => {
        processes.delete(process);
        removeIdle(process);
        resolve(error);
        serveWaiting();
      },
      onLine: line => host.onLine(definition, line),
    });
    processes.add(process);
    return promise;
  }
}

interface Waiting {
  readonly payload: string;
  readonly resolve: (outcome: InvocationOutcome) => void;
}

/**
 * The maximum idle time of a process in milliseconds. Lambda waits 5 minutes or more, but local processes share the
 * memory of one computer. A function that runs every minute reuses its process.
 */
const idleLifetime = 180_000;

const runEnded: InvocationOutcome = {
  outcome: 'failed',
  error: { errorType: 'Sandbox.Ended', errorMessage: 'The local run is ending.' },
};
