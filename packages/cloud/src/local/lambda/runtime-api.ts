import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import * as z from 'zod';
import { listenOnLoopback } from '../loopback-server.ts';
import type { FunctionError } from './invocation.ts';

/** One invocation as the function's process gets it. */
export interface RuntimeInvocation {
  readonly requestId: string;
  readonly payload: string;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly functionArn: string;
  readonly traceId: string;
}

/** The calls of a function's process. */
export interface RuntimeEvents {
  /** The process asks for an invocation, for the first time when its initialisation has ended. */
  onNext(respond: (invocation: RuntimeInvocation) => void): void;
  onResponse(requestId: string, payload: string): void;
  onError(requestId: string, error: FunctionError): void;
  onInitError(error: FunctionError): void;
}

/** The Lambda Runtime API (2018-06-01) for one function process. */
export interface RuntimeApi {
  /** `127.0.0.1:port`, as AWS_LAMBDA_RUNTIME_API has it. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Starts the Runtime API for one process on a free port of 127.0.0.1. */
export async function startRuntimeApi(events: RuntimeEvents): Promise<RuntimeApi> {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, call, requestId = '', kind] =
      /^\/2018-06-01\/runtime\/(init\/error|invocation\/next|invocation\/([\w-]+)\/(response|error))$/.exec(
        request.url ?? '',
      ) ?? [];
    if (call === 'invocation/next') return events.onNext(invocation => handOver(response, invocation));
    if (call === 'init/error') {
      events.onInitError(await readError(request));
    } else if (kind === 'error') {
      events.onError(requestId, await readError(request));
    } else if (kind === 'response') {
      const payload = await text(request);
      if (Buffer.byteLength(payload) > largestResponse) events.onError(requestId, tooLarge);
      else events.onResponse(requestId, payload);
    } else {
      response.writeHead(404).end();
      return;
    }
    accept(response);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy()); // the process died during the request
  });
  const { port, stop } = await listenOnLoopback(server);
  return { address: `127.0.0.1:${port}`, stop };
}

function handOver(response: ServerResponse, invocation: RuntimeInvocation): void {
  response
    .writeHead(200, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': invocation.requestId,
      'Lambda-Runtime-Deadline-Ms': String(invocation.deadline),
      'Lambda-Runtime-Invoked-Function-Arn': invocation.functionArn,
      'Lambda-Runtime-Trace-Id': invocation.traceId,
    })
    .end(invocation.payload);
}

async function readError(request: IncomingMessage): Promise<FunctionError> {
  try {
    return errorSchema.parse(JSON.parse(await text(request)));
  } catch {
    return { errorType: 'Unknown', errorMessage: 'The runtime reported an error that cannot be parsed.' };
  }
}

/** Lambda's limit for the payload of a synchronous answer, in bytes. */
const largestResponse = 6 * 1024 * 1024;

const tooLarge: FunctionError = {
  errorType: 'Function.ResponseSizeTooLarge',
  errorMessage: `Response payload size exceeded maximum allowed payload size (${largestResponse} bytes).`,
};

function accept(response: ServerResponse): void {
  response.writeHead(202, { 'Content-Type': 'application/json' }).end('{"status":"OK"}');
}

const errorSchema = z.object({ errorType: z.string().default('Error'), errorMessage: z.string().default('') });
