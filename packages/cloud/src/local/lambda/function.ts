import type { FunctionDefinition } from './definition.ts';
import type { FunctionError, InvocationOutcome, Invoke } from './invocation.ts';
import { type FunctionProcess, startProcess } from './process.ts';
import type { RuntimeContext } from './runtime-context.ts';

/** A function of the template, which runs on demand. */
export interface LocalFunction {
  readonly definition: FunctionDefinition;
  /** The maximum number of concurrent invocations. More invocations wait. */
  readonly concurrency: number;
  readonly invoke: Invoke;
  /** Resolves when no invocation is running or waiting. */
  drain(): Promise<void>;
  /** Ends all processes. Running and waiting invocations fail. */
  end(): void;
}

/** The dependencies of running functions. */
export interface FunctionHost {
  readonly runtimeContext: RuntimeContext;
  /** The lock that all functions of a run share. */
  readonly startLock: StartLock;
  readonly onLine: (definition: FunctionDefinition, line: string) => void;
}

/** Waits for a turn, in the order of the calls. Returns a function that ends the turn. */
type StartLock = () => Promise<() => void>;

/**
 * Creates the lock that one starting process of a run holds at a time. Loading a bundle keeps a core busy for a while.
 * Many simultaneous starts on a busy computer would all time out.
 */
export function makeStartLock(): StartLock {
  let previous: Promise<void> = Promise.resolve();
  return async function acquire() {
    const before = previous;
    const { promise, resolve } = Promise.withResolvers<void>();
    previous = promise;
    await before;
    return resolve;
  };
}

/**
 * Creates a function. It starts processes on demand, keeps idle ones for a while, and replaces dead ones. The most
 * recently used process is used first, so that superfluous ones become idle and end.
 */
export function makeLocalFunction(definition: FunctionDefinition, host: FunctionHost, concurrency = 16): LocalFunction {
  const waiting: Waiting[] = [];
  const idle: { readonly process: FunctionProcess; readonly ending: NodeJS.Timeout }[] = [];
  const alive = new Set<FunctionProcess>();
  const inFlight = new Set<Promise<InvocationOutcome>>();
  let isStarting = false;
  let hasEnded = false;
  return {
    definition,
    concurrency,
    invoke: payload => {
      if (hasEnded) return Promise.resolve(ended);
      const { promise, resolve } = Promise.withResolvers<InvocationOutcome>();
      inFlight.add(promise);
      waiting.push({ payload, resolve });
      serveWaiting();
      return promise.finally(() => inFlight.delete(promise));
    },
    drain: async () => void (await Promise.all(inFlight)),
    end: () => {
      hasEnded = true;
      for (const { resolve } of waiting.splice(0)) resolve(ended);
      for (const process of alive) process.end();
    },
  };

  function serveWaiting(): void {
    const process = waiting.length > 0 ? idle.at(-1)?.process : undefined;
    const next = process && waiting.shift();
    if (next) void serve(process, next);
    else void startNeeded();
  }

  async function serve(process: FunctionProcess, { payload, resolve }: Waiting): Promise<void> {
    forget(process);
    resolve(await process.invoke(payload));
    if (alive.has(process)) rest(process);
  }

  function rest(process: FunctionProcess): void {
    const ending = setTimeout(() => {
      forget(process); // a process that is ending must not be used
      process.end();
    }, idleLifetime).unref();
    idle.push({ process, ending });
    serveWaiting();
  }

  function forget(process: FunctionProcess): void {
    const at = idle.findIndex(one => one.process === process);
    if (at >= 0) clearTimeout(idle.splice(at, 1)[0]?.ending);
  }

  function needsProcess(): boolean {
    return !hasEnded && waiting.length > 0 && alive.size < concurrency;
  }

  /** Starts the needed processes. At most one waits for the lock, so that this function does not delay others. */
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

  /** Starts a process. Resolves when it is ready, or with the error that ended it. */
  function start(): Promise<FunctionError | undefined> {
    const { promise, resolve } = Promise.withResolvers<FunctionError | undefined>();
    const process = startProcess(definition, host.runtimeContext, {
      onReady: () => {
        rest(process);
        resolve(undefined);
      },
      onExit: error => {
        alive.delete(process);
        forget(process);
        resolve(error);
        serveWaiting();
      },
      onLine: line => host.onLine(definition, line),
    });
    alive.add(process);
    return promise;
  }
}

interface Waiting {
  readonly payload: string;
  readonly resolve: (outcome: InvocationOutcome) => void;
}

/**
 * An idle process ends after this many milliseconds. Lambda waits 5 minutes or more, but here all processes share this
 * computer's memory. A function that runs every minute keeps its process.
 */
const idleLifetime = 180_000;

const ended: InvocationOutcome = {
  outcome: 'failed',
  error: { errorType: 'Sandbox.Ended', errorMessage: 'The local run is ending.' },
};
