import { existsSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

/**
 * The client of the Lambda Runtime API, as Lambda's own runtime for Node.js: loads the handler, asks for invocations,
 * responds. It is the main script of each function process.
 */
const { AWS_LAMBDA_RUNTIME_API: api = '', _HANDLER: handlerName = '', LAMBDA_TASK_ROOT: root = '' } = process.env;

/** An import of `node:http` reads each of its exports, one of which loads undici: 25 ms for every process. */
const { Agent, request } = process.getBuiltinModule('node:http');

type Handler = (event: unknown, context: object) => unknown;

/** The local run has ended, even by SIGKILL: leave no orphan. */
process.once('disconnect', () => process.exit(0));

/** Ctrl-C reaches the whole process group. The local run decides when its functions end. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

let current: string | undefined;

process.on('uncaughtException', endBy('Uncaught Exception', 129));
process.on('unhandledRejection', endBy('Unhandled Promise Rejection', 128));

try {
  const handler = await loadHandler();
  for (;;) await serveOne(handler);
} catch (error) {
  await report('init/error', 'Init Error', error);
  process.exit(1);
}

/** An uncaught error ends the process, as in Lambda, after it was reported. */
function endBy(title: string, exitCode: number) {
  return (error: unknown) => {
    const path = current === undefined ? 'init/error' : `invocation/${current}/error`;
    void report(path, title, error).finally(() => process.exit(exitCode));
  };
}

async function report(path: string, title: string, error: unknown): Promise<void> {
  const { errorType, errorMessage, stack } = describe(error);
  console.error(JSON.stringify({ level: 'ERROR', message: title, errorType, errorMessage, stack }));
  await call('POST', path, JSON.stringify({ errorType, errorMessage, trace: stack }));
}

function describe(error: unknown) {
  const { name, message, stack = '' } = error instanceof Error ? error : { name: 'Error', message: String(error) };
  return {
    errorType: name,
    errorMessage: message,
    stack: stack
      .split('\n')
      .slice(1)
      .map(line => line.trim()),
  };
}

async function call(
  method: 'GET' | 'POST',
  path: string,
  body = '',
): Promise<{ answer: IncomingMessage; body: string }> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const url = `http://${api}/2018-06-01/runtime/${path}`;
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    request(url, { method, agent, headers }, resolve).on('error', reject).end(body);
  });
  return { answer, body: await text(answer) };
}

async function loadHandler(): Promise<Handler> {
  const dot = handlerName.lastIndexOf('.');
  const [file, name] = [handlerName.slice(0, dot), handlerName.slice(dot + 1)];
  const path = ['.mjs', '.js', '.cjs'].map(extension => join(root, file + extension)).find(existsSync);
  if (!path) throw new Error(`Cannot find the module '${file}'`);
  const handler: unknown = (await import(pathToFileURL(path).href))[name];
  if (typeof handler !== 'function') throw new TypeError(`${handlerName} is undefined or not exported`);
  return handler as Handler;
}

async function serveOne(handler: Handler): Promise<void> {
  const { answer, body } = await call('GET', 'invocation/next');
  const requestId = String(answer.headers['lambda-runtime-aws-request-id']);
  current = requestId;
  process.env._X_AMZN_TRACE_ID = String(answer.headers['lambda-runtime-trace-id']);
  try {
    const result = await handler(JSON.parse(body), contextOf(answer, requestId));
    await call('POST', `invocation/${requestId}/response`, JSON.stringify(result ?? null));
  } catch (error) {
    await report(`invocation/${requestId}/error`, 'Invoke Error', error);
  }
}

function contextOf({ headers }: IncomingMessage, requestId: string) {
  const deadline = Number(headers['lambda-runtime-deadline-ms']);
  return {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}
