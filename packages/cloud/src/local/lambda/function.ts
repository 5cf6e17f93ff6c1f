import { setTimeout as wait } from 'node:timers/promises';
import type { FunctionDefinition } from './definition.ts';
import type { StartLock } from './execution-environment.ts';
import { type ExecutionEnvironment, startExecutionEnvironment } from './execution-environment.ts';
import type { FunctionError, InvocationOutcome, Invoke } from './invocation.ts';
import type { RuntimeContext } from './runtime-context.ts';

/** A function of the template, running on demand. */
export interface LocalFunction {
  readonly definition: FunctionDefinition;
  /** Invocations that may run at once; more wait. */
  readonly concurrency: number;
  readonly invoke: Invoke;
  /** Resolves when no invocation is running or waiting. */
  drain(): Promise<void>;
  /** Ends all processes; running and waiting invocations fail. */
  end(): void;
}

/** The dependencies of running functions. */
export interface FunctionHost {
  readonly runtimeContext: RuntimeContext;
  /** The same for all functions of a run. */
  readonly startLock: StartLock;
  readonly onLine: (definition: FunctionDefinition, line: string) => void;
}

/**
 * Makes a function that starts processes as invocations come, keeps idle ones for a while, and replaces those that died.
 * The most recently used process is used first, so that superfluous ones become idle and end.
 *
 * @param eventSourceConcurrency - batches that its event sources may process at once; 0 when the template sets no maximum
 */
export function makeLocalFunction(
  definition: FunctionDefinition,
  host: FunctionHost,
  eventSourceConcurrency = 0,
): LocalFunction {
  const most = eventSourceConcurrency > 0 ? eventSourceConcurrency : mostProcesses;
  const concurrency = Math.min(definition.reservedConcurrency ?? most, most);
  const waiting: Waiting[] = [];
  const idle: Idle[] = [];
  const alive = new Set<ExecutionEnvironment>();
  const underWay = new Set<Promise<InvocationOutcome>>();
  let processes = 0;
  let isStarting = false;
  let hasEnded = false;

  const serve = (environment: ExecutionEnvironment, { payload, resolve }: Waiting): void =>
    void environment.invoke(payload).then(resolve);

  const keep = (environment: ExecutionEnvironment): void => {
    const ending = setTimeout(() => {
      forget(environment); // it must not be used while it ends
      environment.end();
    }, idleLifetime).unref();
    idle.push({ environment, ending });
  };

  const forget = (environment: ExecutionEnvironment): void => {
    const at = idle.findIndex(other => other.environment === environment);
    if (at >= 0) clearTimeout(idle.splice(at, 1)[0]?.ending);
  };

  /** Fails one of the invocations that wait for a process, with the error of a process that cannot start. */
  const failOne = (error: FunctionError): void => waiting.shift()?.resolve({ outcome: 'failed', error });

  const startProcess = (hasStarted: () => void): void => {
    processes += 1;
    const events = {
      onIdle: (environment: ExecutionEnvironment) => {
        const next = waiting.shift();
        if (next) serve(environment, next);
        else keep(environment);
        hasStarted();
      },
      onExit: (environment: ExecutionEnvironment, error: FunctionError | undefined) => {
        processes -= 1;
        alive.delete(environment);
        forget(environment);
        if (error) failOne(error);
        hasStarted();
        startNeeded();
      },
      onLine: (line: string) => host.onLine(definition, line),
    };
    startExecutionEnvironment(definition, host.runtimeContext, events).then(
      environment => {
        if (hasEnded) environment.end();
        else alive.add(environment);
      },
      error => {
        processes -= 1;
        failOne({ errorType: 'Sandbox.StartError', errorMessage: String(error) });
        hasStarted();
      },
    );
  };

  const needsProcess = (): boolean => !hasEnded && waiting.length > 0 && processes < concurrency;

  /**
   * At most one start of this function waits for the lock, so that no function delays the others for long. The next start
   * follows after a pause as long as this one took: running processes need the processors too, and may become idle.
   */
  const startNeeded = (): void => {
    if (isStarting || !needsProcess()) return;
    isStarting = true;
    void host.startLock.acquire().then(release => {
      const startedAt = performance.now();
      let isOver = false;
      const hasStarted = async (): Promise<void> => {
        if (isOver) return;
        isOver = true;
        release();
        if (alive.size > 0) await wait(performance.now() - startedAt, undefined, { ref: false });
        isStarting = false;
        startNeeded();
      };
      if (needsProcess()) startProcess(hasStarted);
      else void hasStarted();
    });
  };

  const place = (payload: string): Promise<InvocationOutcome> =>
    new Promise(resolve => {
      if (hasEnded) return resolve(ended);
      const environment = idle.at(-1)?.environment;
      if (environment) {
        forget(environment);
        return serve(environment, { payload, resolve });
      }
      waiting.push({ payload, resolve });
      startNeeded();
    });

  return {
    definition,
    concurrency,
    invoke: payload => {
      const placed = place(payload);
      underWay.add(placed);
      return placed.finally(() => underWay.delete(placed));
    },
    drain: async () => void (await Promise.all(underWay)),
    end: () => {
      hasEnded = true;
      for (const { resolve } of waiting.splice(0)) resolve(ended);
      for (const environment of alive) environment.end();
    },
  };
}

/** Processes of a function without event sources that set a maximum. */
const mostProcesses = 16;

interface Waiting {
  readonly payload: string;
  resolve(outcome: InvocationOutcome): void;
}

interface Idle {
  readonly environment: ExecutionEnvironment;
  readonly ending: NodeJS.Timeout;
}

/**
 * Milliseconds after which an idle process is ended. Lambda waits five minutes or more; here all processes share one
 * machine's memory. A function that runs every minute keeps its process.
 */
const idleLifetime = 180_000;

const ended: InvocationOutcome = {
  outcome: 'failed',
  error: { errorType: 'Sandbox.Ended', errorMessage: 'The local run is ending.' },
};
