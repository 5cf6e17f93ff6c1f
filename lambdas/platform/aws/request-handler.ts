import { Agent, type AgentOptions, type RequestOptions, request as requestOverTls } from 'node:https';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { afterEvents } from '../timer.ts';

export type RequestHandler = Extract<DynamoDBClientConfig['requestHandler'], { handle: unknown }>;

/**
 * Creates the request handler of an SDK client, with one pool of keep-alive connections. It returns each body as one buffer. A request
 * without a complete response within `timeout` milliseconds fails with a `TimeoutError`. The SDK retries this error and connection errors.
 * If the caller aborts a request, it fails with an `AbortError`, which the SDK does not retry.
 */
export function makeRequestHandler({ timeout }: { readonly timeout: number }): RequestHandler {
  const overTls: Transport = { request: requestOverTls, agent: new Agent(poolOptions) };
  let plain: Transport | undefined;

  return { metadata: { handlerProtocol: 'http/1.1' }, handle, destroy, ...withoutConfiguration } as RequestHandler;

  async function handle(request: Request, { abortSignal }: HandlerOptions = {}): Promise<{ response: Response }> {
    const isPlain = request.protocol === 'http:';
    if (isPlain) plain ??= makePlainTransport();
    if (abortSignal?.aborted) throw aborted();
    return { response: await send(request, plain && isPlain ? plain : overTls, timeout, abortSignal) };
  }

  function destroy(): void {
    overTls.agent.destroy();
    plain?.agent.destroy();
  }
}

const poolOptions: AgentOptions = { keepAlive: true, maxSockets: 50 };

/** The methods that the SDK calls to configure a handler. */
const withoutConfiguration = { updateHttpClientConfig: () => {}, httpHandlerConfigs: () => ({}) };

interface Transport {
  readonly request: typeof requestOverTls;
  readonly agent: Agent;
}

/** Creates a transport for plain HTTP, for local runs only. An import of `node:http` takes 27 ms, because one of its exports loads undici. */
function makePlainTransport(): Transport {
  const http = process.getBuiltinModule('node:http');
  return { request: http.request, agent: new http.Agent(poolOptions) as Agent };
}

interface Request {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
}

interface Response {
  readonly statusCode: number;
  readonly reason: string | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

interface HandlerOptions {
  readonly abortSignal?: AbortSignal;
}

function send(
  request: Request,
  { request: open, agent }: Transport,
  timeout: number,
  abortSignal: AbortSignal | undefined,
): Promise<Response> {
  const { hostname, port, method, path, headers, body } = request;
  const options: RequestOptions = { host: hostname, ...(port && { port }), method, path, headers, agent };
  return new Promise((resolve, reject) => {
    const sent = open(options, response => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', fail);
      response.on('end', () => {
        settle();
        const { statusCode = 0, statusMessage: reason, headers } = response;
        resolve({ statusCode, reason, headers, body: Buffer.concat(parts) });
      });
    });
    const cancelTimeout = afterEvents(timeout, () => {
      settle();
      const missing = sent.socket?.connecting === false ? 'response' : 'connection';
      const message = `${hostname}: no ${missing} within ${timeout} ms`;
      reject(Object.assign(new Error(message), { name: 'TimeoutError' }));
      sent.destroy();
    });
    abortSignal?.addEventListener('abort', abort);
    sent.on('error', fail);
    sent.end(body);

    function abort(): void {
      fail(aborted());
      sent.destroy();
    }

    function fail(error: Error): void {
      settle();
      reject(error);
    }

    function settle(): void {
      cancelTimeout();
      abortSignal?.removeEventListener('abort', abort);
    }
  });
}

function aborted(): Error {
  return Object.assign(new Error('The caller aborted the request.'), { name: 'AbortError' });
}
