import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { FunctionDefinition } from './definition.ts';
import { exitFault, type FunctionFault, type InvocationOutcome, timeoutFault } from './invocation.ts';
import { type HandedInvocation, startRuntimeApi } from './runtime-api.ts';
import { functionVariables, type RuntimeSurroundings } from './variables.ts';

/** One process of a function; it serves one invocation at a time. */
export interface ExecutionEnvironment {
  invoke(payload: string): Promise<InvocationOutcome>;
  /** Ends the process at once. */
  end(): void;
}

/** What the owner of an environment is told. */
export interface EnvironmentEvents {
  /** The environment can take an invocation. */
  onIdle(environment: ExecutionEnvironment): void;
  /** The process is gone. `fault` is set when it never became ready. */
  onGone(environment: ExecutionEnvironment, fault: FunctionFault | undefined): void;
  /** A line the function wrote to either output. */
  onLine(line: string): void;
}

/** Starts a process for a function; it reports itself idle once it is ready. */
export async function startExecutionEnvironment(
  definition: FunctionDefinition,
  surroundings: RuntimeSurroundings,
  events: EnvironmentEvents,
): Promise<ExecutionEnvironment> {
  let current: { readonly requestId: string; settle(outcome: InvocationOutcome): void } | undefined;
  let hand: ((invocation: HandedInvocation) => void) | undefined;
  let isReady = false;
  let isEnding = false;
  let startFault: FunctionFault | undefined;

  const end = (): void => {
    isEnding = true;
    child.kill('SIGKILL');
  };
  const logFault = ({ errorMessage }: FunctionFault): void =>
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
      hand = take;
      events.onIdle(environment);
    },
    onResponse: (requestId, payload) => settle(requestId, { outcome: 'returned', payload }),
    onError: (requestId, fault) => settle(requestId, { outcome: 'failed', fault }),
    onInitError: fault => {
      startFault = fault;
    },
  });
  const child = spawnFunction(definition, surroundings, api.address);
  for (const output of [child.stdout, child.stderr]) {
    if (output) createInterface({ input: output }).on('line', events.onLine);
  }
  const initialisation = setTimeout(() => {
    startFault = timeoutFault('init', initialisationSeconds);
    logFault(startFault);
    end();
  }, initialisationSeconds * 1000);

  const onGone = (code: number | null, signal: string | null): void => {
    clearTimeout(initialisation);
    const requestId = current?.requestId ?? 'init';
    const fault = startFault ?? exitFault(requestId, code, signal);
    if (!isEnding) logFault(fault);
    settle(requestId, { outcome: 'failed', fault });
    events.onGone(environment, isReady ? undefined : fault);
    void api.stop();
  };
  child.once('exit', onGone);
  child.once('error', () => onGone(1, null));

  const environment: ExecutionEnvironment = {
    invoke: payload =>
      new Promise(resolve => {
        const requestId = randomUUID();
        const milliseconds = definition.timeoutSeconds * 1000;
        const timeout = setTimeout(() => {
          const fault = timeoutFault(requestId, definition.timeoutSeconds);
          logFault(fault);
          settle(requestId, { outcome: 'failed', fault });
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
        hand?.({ requestId, payload, deadline, functionArn: definition.arn, traceId: traceId() });
        hand = undefined;
      }),
    end,
  };
  return environment;
}

function spawnFunction(definition: FunctionDefinition, surroundings: RuntimeSurroundings, api: string): ChildProcess {
  const words = [
    '--import',
    surroundings.preloadUrl,
    `--max-old-space-size=${Math.floor(definition.memory * 0.9)}`, // as Lambda's own runtime sets it
    surroundings.bootstrapFile,
  ];
  return spawn(process.execPath, words, {
    cwd: definition.directory,
    env: functionVariables(definition, surroundings, api),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'], // the channel tells the process when the runner is gone
  });
}

/** Lambda gives initialisation ten seconds; a machine that is busy with other things needs more for the same work. */
const initialisationSeconds = 60;

function traceId(): string {
  const time = Math.floor(Date.now() / 1000).toString(16);
  const random = randomUUID().replaceAll('-', '');
  return `Root=1-${time}-${random.slice(0, 24)};Parent=${random.slice(0, 16)};Sampled=0`;
}
