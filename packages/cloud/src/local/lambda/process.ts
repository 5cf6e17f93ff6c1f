import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { FunctionDefinition } from './definition.ts';
import type { FunctionError, Invocation, InvocationOutcome, Invoke, ProcessMessage } from './invocation.ts';
import { functionVariables, type RuntimeContext } from './runtime-context.ts';

/** A process of a function. It runs one invocation at a time. */
export interface FunctionProcess {
  readonly invoke: Invoke;
  /** Kills the process. */
  end(): void;
}

/** The events that a process reports to its owner. */
export interface ProcessEvents {
  /** Called when the process is ready for its first invocation. */
  onReady(): void;
  /** Called when the process has exited, before its current invocation fails. */
  onExit(error: FunctionError): void;
  /** Called for each line that the function writes to standard output or standard error. */
  onLine(line: string): void;
}

export function startProcess(
  definition: FunctionDefinition,
  runtimeContext: RuntimeContext,
  { onReady, onExit, onLine }: ProcessEvents,
): FunctionProcess {
  /** The error that ends the process, if it is known before the process exits. */
  let reason: FunctionError | undefined;
  let settle: (outcome: InvocationOutcome) => void = () => undefined;
  /** The id of the current invocation. */
  let requestId = 'init';
  const child = spawnFunction(definition, runtimeContext);
  for (const output of [child.stdout, child.stderr]) {
    if (output) createInterface({ input: output }).on('line', onLine);
  }
  let timer = killAfter(initialisationSeconds);
  child.on('message', (message: ProcessMessage) => {
    if (message !== 'ready' && message.outcome === 'fatal') {
      reason = message.error;
      return;
    }
    clearTimeout(timer);
    requestId = 'init';
    if (message === 'ready') onReady();
    else settle(message);
  });
  child.once('close', onEnd).on('error', () => onEnd(1, null)); // 'exit' may precede the last message
  return {
    invoke: payload => {
      const { promise, resolve } = Promise.withResolvers<InvocationOutcome>();
      settle = resolve;
      requestId = randomUUID();
      timer = killAfter(definition.timeoutSeconds);
      const deadline = Date.now() + definition.timeoutSeconds * 1000;
      child.send({ requestId, payload, deadline } satisfies Invocation);
      return promise;
    },
    end: () => killWith({ errorType: 'Sandbox.Ended', errorMessage: 'The local cloud ended the process.' }),
  };

  function onEnd(code: number | null, signal: string | null): void {
    clearTimeout(timer);
    const cause = signal === null ? `exit status ${code}` : `signal: ${signal}`;
    const error = reason ?? failure('Runtime.ExitError', `Runtime exited with error: ${cause}`);
    onExit(error);
    settle({ outcome: 'failed', error });
  }

  function killAfter(seconds: number): NodeJS.Timeout {
    const text = `Task timed out after ${seconds.toFixed(2)} seconds`;
    return setTimeout(() => killWith(failure('Sandbox.Timedout', text)), seconds * 1000);
  }

  function killWith(error: FunctionError): void {
    reason = error;
    child.kill('SIGKILL');
  }

  /** Logs an error as Lambda does. */
  function failure(errorType: string, text: string): FunctionError {
    const errorMessage = `RequestId: ${requestId} Error: ${text}`;
    onLine(JSON.stringify({ level: 'ERROR', message: errorMessage }));
    return { errorType, errorMessage };
  }
}

function spawnFunction(definition: FunctionDefinition, runtimeContext: RuntimeContext): ChildProcess {
  const parameters = [
    '--import',
    runtimeContext.preloadUrl,
    '--max-semi-space-size=4', // MiB. Less than in Lambda, because all functions share this computer's memory
    `--max-old-space-size=${Math.floor(definition.memory * 0.9)}`, // as in Lambda's runtime
    runtimeContext.bootstrapFile,
  ];
  return spawn(process.execPath, parameters, {
    cwd: definition.directory,
    env: functionVariables(definition, runtimeContext),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'], // the channel closes when this process ends, even after SIGKILL
  });
}

/** The maximum start-up time in seconds. Lambda allows 10 seconds, but a busy computer needs more time. */
const initialisationSeconds = 60;
