import { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import dynalite from 'dynalite';
import { callerOf, type Interceptor, intercept, type ServiceError } from '../interceptors.ts';
import { type Emulator, listenOnLoopback } from '../loopback-server.ts';

/**
 * Starts DynamoDB (dynalite) on 127.0.0.1. TTL, point-in-time recovery and deletion protection do not exist there.
 *
 * @throws {StartError} when the port cannot be had.
 */
export async function startDynamoDb({
  interceptors = [],
  directory,
  port: wantedPort = 0,
}: {
  readonly interceptors?: readonly Interceptor[];
  /** Where the tables are kept. @default - in memory */
  readonly directory?: string;
  /** @default 0 - any free one */
  readonly port?: number;
} = {}): Promise<Emulator> {
  const server = dynalite({ createTableMs: 0, ...(directory === undefined ? {} : { path: directory }) });
  const [handle] = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  if (handle) server.on('request', withInterceptors(handle, interceptors));
  const { port } = await listenOnLoopback(server, wantedPort);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve()); // calls back when the store is closed too
        server.closeAllConnections();
      }),
  };
}

/** Passes on complete requests only: dynalite throws out of its event handlers when a request is cut off. */
function withInterceptors(handle: RequestListener, interceptors: readonly Interceptor[]): RequestListener {
  return function listener(request, response) {
    readBody(request).then(
      body => {
        const error = intercept(interceptors, {
          service: 'dynamodb',
          operation: String(request.headers['x-amz-target']).split('.').at(-1) ?? '',
          caller: callerOf(request.headers.authorization),
          get input() {
            return parseJson(body); // only the IAM enforcer looks at it, and the engine parses the body too
          },
        });
        if (!error) replay(request, body, replayed => handle(replayed, response));
        else response.writeHead(error.status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(errorBody(error));
      },
      () => response.destroy(),
    );
  };
}

/** Node's stream consumers would take twice the time of everything that follows. */
function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.once('error', reject); // cut off
  });
}

/** A body that is no JSON has no parameters; the engine has its own answer to it. */
function parseJson(body: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(body.toString());
  } catch {
    return {};
  }
}

/** Hands a request over whose body has been read. The engine listens to events and uses nothing else of a stream. */
function replay({ method, url, headers }: IncomingMessage, body: Buffer, to: (request: IncomingMessage) => void): void {
  const replayed = Object.assign(new EventEmitter(), { method, url, headers });
  to(replayed as unknown as IncomingMessage);
  if (body.length > 0) replayed.emit('data', body);
  replayed.emit('end');
}

function errorBody({ code, message }: ServiceError): string {
  return JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${code}`, message });
}
