import { availableParallelism } from 'node:os';
import type { FunctionDefinition } from './definition.ts';
import { type ExecutionEnvironment, startExecutionEnvironment } from './execution-environment.ts';
import type { FunctionFault, InvocationOutcome, Invoke } from './invocation.ts';
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
  readonly onLine: (definition: FunctionDefinition, line: string) => void;
}

/** Processes of one function at most, whatever AWS would allow: they share this machine. */
const mostProcesses = 16;

/** More at once would only compete for the processors. */
const mostStarting = Math.max(1, availableParallelism());

interface Waiting {
  readonly payload: string;
  resolve(outcome: InvocationOutcome): void;
}

const ended: InvocationOutcome = {
  outcome: 'failed',
  fault: { errorType: 'Sandbox.Ended', errorMessage: 'The local run is ending.' },
};

/** Makes a function that starts processes as invocations come, keeps idle ones, and replaces dead ones. */
export const makeLocalFunction = (definition: FunctionDefinition, host: FunctionHost): LocalFunction => {
  const concurrency = Math.min(definition.reservedConcurrency ?? mostProcesses, mostProcesses);
  const waiting: Waiting[] = [];
  const idle: ExecutionEnvironment[] = [];
  const alive = new Set<ExecutionEnvironment>();
  const underWay = new Set<Promise<InvocationOutcome>>();
  let processes = 0;
  let starting = 0;
  let hasEnded = false;

  const serve = (environment: ExecutionEnvironment, { payload, resolve }: Waiting): void =>
    void environment.invoke(payload).then(resolve);

  /** An invocation that waited for a process which could not start fails with its fault. */
  const failOne = (fault: FunctionFault): void => waiting.shift()?.resolve({ outcome: 'failed', fault });

  const startProcess = (): void => {
    processes += 1;
    starting += 1;
    let isStarting = true;
    const hasStarted = () => {
      if (isStarting) starting -= 1;
      isStarting = false;
    };
    const events = {
      onIdle: (environment: ExecutionEnvironment) => {
        hasStarted();
        const next = waiting.shift();
        if (next) serve(environment, next);
        else idle.push(environment);
      },
      onGone: (environment: ExecutionEnvironment, fault: FunctionFault | undefined) => {
        hasStarted();
        processes -= 1;
        alive.delete(environment);
        if (idle.includes(environment)) idle.splice(idle.indexOf(environment), 1);
        if (fault) failOne(fault);
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
        hasStarted();
        failOne({ errorType: 'Sandbox.StartError', errorMessage: String(error) });
      },
    );
  };

  const startNeeded = (): void => {
    if (hasEnded) return;
    while (starting < Math.min(waiting.length, mostStarting) && processes < concurrency) startProcess();
  };

  const place = (payload: string): Promise<InvocationOutcome> =>
    new Promise(resolve => {
      if (hasEnded) return resolve(ended);
      const environment = idle.pop();
      if (environment) return serve(environment, { payload, resolve });
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
};
