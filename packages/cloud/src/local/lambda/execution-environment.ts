import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { FunctionDefinition } from './definition.ts';
import { exitError, type FunctionError, type InvocationOutcome, timeoutError } from './invocation.ts';
import { type RuntimeInvocation, startRuntimeApi } from './runtime-api.ts';
import { functionVariables, type RuntimeContext } from './runtime-context.ts';

/** One process of a function. It runs one invocation at a time. */
export interface ExecutionEnvironment {
  invoke(payload: string): Promise<InvocationOutcome>;
  /** Ends the process at once. */
  end(): void;
}

/** The events that an environment reports to its owner. */
export interface EnvironmentEvents {
  /** The environment can take an invocation. */
  onIdle(environment: ExecutionEnvironment): void;
  /** The process has exited. `error` is set when it was never ready. */
  onExit(environment: ExecutionEnvironment, error: FunctionError | undefined): void;
  /** A line the function wrote to either output. */
  onLine(line: string): void;
}

/** A lock that one starting process holds at a time. */
export interface StartLock {
  /** Waits for the lock, first come, first served. @returns what releases it; releasing it again does nothing. */
  acquire(): Promise<() => void>;
}

/** Starts a process for a function; `onIdle` is called once it is ready. */
export async function startExecutionEnvironment(
  definition: FunctionDefinition,
  runtimeContext: RuntimeContext,
  events: EnvironmentEvents,
): Promise<ExecutionEnvironment> {
  let current: { readonly requestId: string; settle(outcome: InvocationOutcome): void } | undefined;
  let takeWork: ((invocation: RuntimeInvocation) => void) | undefined;
  let isReady = false;
  let isEnding = false;
  let startError: FunctionError | undefined;

  const end = (): void => {
    isEnding = true;
    child.kill('SIGKILL');
  };
  const logError = ({ errorMessage }: FunctionError): void =>
    events.onLine(JSON.stringify({ level: 'ERROR', message: errorMessage }));

  const settle = (requestId: string, outcome: InvocationOutcome): void => {
    if (current?.requestId !== requestId) return;
    const { settle: report } = current;
    current = undefined;
    report(outcome);
  };

  const api = await startRuntimeApi({
    onNext: take => {
      isReady = true;
      clearTimeout(initialisation);
      takeWork = take;
      events.onIdle(environment);
    },
    onResponse: (requestId, payload) => settle(requestId, { outcome: 'returned', payload }),
    onError: (requestId, error) => settle(requestId, { outcome: 'failed', error }),
    onInitError: error => {
      startError = error;
    },
  });
  const child = spawnFunction(definition, runtimeContext, api.address);
  for (const output of [child.stdout, child.stderr]) {
    if (output) createInterface({ input: output }).on('line', events.onLine);
  }
  const initialisation = setTimeout(() => {
    startError = timeoutError('init', initialisationSeconds);
    logError(startError);
    end();
  }, initialisationSeconds * 1000);

  const onExit = (code: number | null, signal: string | null): void => {
    clearTimeout(initialisation);
    const requestId = current?.requestId ?? 'init';
    const error = startError ?? exitError(requestId, code, signal);
    if (!isEnding) logError(error);
    settle(requestId, { outcome: 'failed', error });
    events.onExit(environment, isReady ? undefined : error);
    void api.stop();
  };
  child.once('exit', onExit);
  child.once('error', () => onExit(1, null));

  const environment: ExecutionEnvironment = {
    invoke: payload =>
      new Promise(resolve => {
        const requestId = randomUUID();
        const milliseconds = definition.timeoutSeconds * 1000;
        const timeout = setTimeout(() => {
          const error = timeoutError(requestId, definition.timeoutSeconds);
          logError(error);
          settle(requestId, { outcome: 'failed', error });
          end();
        }, milliseconds);
        current = {
          requestId,
          settle: outcome => {
            clearTimeout(timeout);
            resolve(outcome);
          },
        };
        const deadline = Date.now() + milliseconds;
        takeWork?.({ requestId, payload, deadline, functionArn: definition.arn, traceId: traceId() });
        takeWork = undefined;
      }),
    end,
  };
  return environment;
}

/**
 * Makes the lock for the processes of a run. Loading a bundle keeps a processor busy for a while: many starts at once on a
 * busy machine would all take too long.
 */
export function makeStartLock(): StartLock {
  let previous: Promise<void> = Promise.resolve();
  return {
    acquire: async () => {
      const before = previous;
      const { promise, resolve } = Promise.withResolvers<void>();
      previous = promise;
      await before;
      return resolve;
    },
  };
}

function spawnFunction(definition: FunctionDefinition, runtimeContext: RuntimeContext, api: string): ChildProcess {
  const parameters = [
    '--import',
    runtimeContext.preloadUrl,
    '--max-semi-space-size=4', // MiB: less than Lambda's, since all functions share this machine's memory
    `--max-old-space-size=${Math.floor(definition.memory * 0.9)}`, // as Lambda's own runtime sets it
    runtimeContext.bootstrapFile,
  ];
  return spawn(process.execPath, parameters, {
    cwd: definition.directory,
    env: functionVariables(definition, runtimeContext, api),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'], // the channel closes when this process ends, even by SIGKILL
  });
}

/** Lambda allows ten seconds; a busy machine needs more for the same work. */
const initialisationSeconds = 60;

function traceId(): string {
  const time = Math.floor(Date.now() / 1000).toString(16);
  const random = randomUUID().replaceAll('-', '');
  return `Root=1-${time}-${random.slice(0, 24)};Parent=${random.slice(0, 16)};Sampled=0`;
}
