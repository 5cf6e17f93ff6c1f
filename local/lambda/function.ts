import { setTimeout as wait } from 'node:timers/promises';
import type { FunctionDefinition } from './definition.ts';
import { type ExecutionEnvironment, startExecutionEnvironment } from './execution-environment.ts';
import type { FunctionFault, InvocationOutcome, Invoke } from './invocation.ts';
import type { StartGate } from './start-gate.ts';
import type { RuntimeSurroundings } from './variables.ts';

/** A function of the template, running on demand. */
export interface LocalFunction {
  readonly definition: FunctionDefinition;
  /** Invocations that may be under way at once; more wait. */
  readonly concurrency: number;
  readonly invoke: Invoke;
  /** Resolves when nothing is under way any more. */
  drain(): Promise<void>;
  /** Ends all processes; what is under way or waiting fails. */
  end(): void;
}

/** What a function runs on. */
export interface FunctionHost {
  readonly surroundings: RuntimeSurroundings;
  /** The same for all functions of a run. */
  readonly startGate: StartGate;
  readonly onLine: (definition: FunctionDefinition, line: string) => void;
}

/**
 * Makes a function that starts processes as invocations come, keeps idle ones for a while, and replaces dead ones. What
 * was in use last is used first, so that those which nobody needs can end.
 *
 * @param places - batches that its event sources may have under way at once, where the template says so
 */
export function makeLocalFunction(definition: FunctionDefinition, host: FunctionHost, places = 0): LocalFunction {
  const most = places > 0 ? places : mostProcesses;
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
      forget(environment); // nothing may be handed to it while it ends
      environment.end();
    }, idleLifetime).unref();
    idle.push({ environment, ending });
  };

  const forget = (environment: ExecutionEnvironment): void => {
    const at = idle.findIndex(other => other.environment === environment);
    if (at >= 0) clearTimeout(idle.splice(at, 1)[0]?.ending);
  };

  /** An invocation that waited for a process which could not start fails with its fault. */
  const failOne = (fault: FunctionFault): void => waiting.shift()?.resolve({ outcome: 'failed', fault });

  const startProcess = (hasStarted: () => void): void => {
    processes += 1;
    const events = {
      onIdle: (environment: ExecutionEnvironment) => {
        const next = waiting.shift();
        if (next) serve(environment, next);
        else keep(environment);
        hasStarted();
      },
      onGone: (environment: ExecutionEnvironment, fault: FunctionFault | undefined) => {
        processes -= 1;
        alive.delete(environment);
        forget(environment);
        if (fault) failOne(fault);
        hasStarted();
        startNeeded();
      },
      onLine: (line: string) => host.onLine(definition, line),
    };
    startExecutionEnvironment(definition, host.surroundings, events).then(
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
   * One of this function waits at the gate at most, so that no function holds up the others for long. The next one comes
   * after a pause as long as this start took: what runs already needs the processors too, and may serve what waits.
   */
  const startNeeded = (): void => {
    if (isStarting || !needsProcess()) return;
    isStarting = true;
    void host.startGate.enter().then(leave => {
      const startedAt = performance.now();
      let isOver = false;
      const hasStarted = async (): Promise<void> => {
        if (isOver) return;
        isOver = true;
        leave();
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

/** Processes of a function that the template gives no number of places: they share this machine. */
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
 * Milliseconds after which a process that nobody needs is ended. Lambda takes five minutes or more; here they share the
 * memory of one machine. What runs every minute stays, and so do those that `npm run chaos` has started beforehand.
 */
const idleLifetime = 180_000;

const ended: InvocationOutcome = {
  outcome: 'failed',
  fault: { errorType: 'Sandbox.Ended', errorMessage: 'The local run is ending.' },
};
