import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FunctionError, Invocation, ProcessMessage } from './invocation.ts';

/**
 * Runs in each function process. It loads the handler and executes invocations, as Lambda's Node.js runtime does. The
 * parent process sends invocations over the IPC channel.
 */
const { _HANDLER: handlerName = '', LAMBDA_TASK_ROOT: root = '' } = process.env;

type Handler = (event: unknown, context: object) => unknown;

/** Exits when the local run ends, even after SIGKILL. */
process.once('disconnect', () => process.exit(0));

/** Ignores Ctrl-C, which reaches the whole process group, because the local run ends its functions in order. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

// As in Lambda, an uncaught error is reported and then ends the process.
process.on('uncaughtException', error => end('Uncaught Exception', error, 129));
process.on('unhandledRejection', error => end('Unhandled Promise Rejection', error, 128));

try {
  const handler = await loadHandler();
  process.on('message', (invocation: Invocation) => void serve(handler, invocation));
  send('ready');
} catch (error) {
  end('Init Error', error, 1);
}

function end(title: string, error: unknown, exitCode: number): void {
  send({ outcome: 'fatal', error: log(title, error) }, () => process.exit(exitCode));
}

function send(message: ProcessMessage, whenSent?: () => void): void {
  process.send?.(message, undefined, undefined, whenSent);
}

/** Logs an error as Lambda does. */
function log(message: string, error: unknown): FunctionError {
  const { name, message: errorMessage, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const [, ...frames] = stack.split('\n').map(line => line.trim());
  console.error(JSON.stringify({ level: 'ERROR', message, errorType: name, errorMessage, stack: frames }));
  return { errorType: name, errorMessage };
}

async function loadHandler(): Promise<Handler> {
  const [file = '', name = ''] = handlerName.split('.');
  const { [name]: handler } = await import(pathToFileURL(join(root, `${file}.mjs`)).href);
  if (typeof handler !== 'function') throw new TypeError(`${handlerName} is undefined or not exported`);
  return handler;
}

async function serve(handler: Handler, { requestId, payload, deadline }: Invocation): Promise<void> {
  const context = {
    awsRequestId: requestId,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
  try {
    const result = await handler(JSON.parse(payload), context);
    send({ outcome: 'returned', payload: JSON.stringify(result ?? null) });
  } catch (error) {
    send({ outcome: 'failed', error: log('Invoke Error', error) });
  }
}
