import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Invoke } from '../lambda/invocation.ts';
import { type LoopbackServer, listenOnLoopback } from '../loopback-server.ts';
import { eventOf, type GatewayRequest, type GatewayResponse, gatewayMessage, responseOf } from './payload.ts';

/** Handles a request and returns the response. */
export type Gateway = (request: GatewayRequest) => Promise<GatewayResponse>;

export interface HttpServer extends LoopbackServer {
  /** Starts serving requests. Until then, the server returns 503. */
  open(gateway: Gateway): void;
  /** Stops accepting requests. Running requests continue. */
  close(): void;
}

/** The function and the throttle of a route. */
interface RouteTarget {
  readonly routeKey: string;
  readonly invoke: Invoke;
  readonly throttle: () => boolean;
}

/** Creates the gateway of an HTTP API. It routes and throttles requests. After `timeout` milliseconds it returns 503. */
export function makeGateway(findRoute: (path: string) => RouteTarget | undefined, timeout = 30_000): Gateway {
  return async function gateway(request) {
    const route = findRoute(request.path);
    if (!route) return gatewayMessage(404, 'Not Found');
    if (!route.throttle()) return gatewayMessage(429, 'Too Many Requests');
    const timer = new AbortController();
    const response = route.invoke(JSON.stringify(eventOf(request, route.routeKey))).then(responseOf);
    const timedOut = wait(timeout, unavailable, { signal: timer.signal });
    timedOut.catch(() => undefined);
    return Promise.race([response, timedOut]).finally(() => timer.abort());
  };
}

/** Starts an HTTP server on 127.0.0.1. Port 0 selects any free port. @throws {StartError} if the port is not available */
export async function startHttpServer(port: number): Promise<HttpServer> {
  let gateway: Gateway = async () => unavailable;
  const server = createServer({ maxHeaderSize: 8 * maxHeadBytes }, (request, response) => {
    const requestId = `${randomBytes(11).toString('base64url')}=`; // the format of API Gateway
    response.setHeader(requestIdHeader, requestId);
    serve(request, response, requestId).catch(() => response.destroy()); // the caller has disconnected
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  const listening = await listenOnLoopback(server, port);
  return {
    ...listening,
    open: newGateway => {
      gateway = newGateway;
    },
    close: () => {
      server.close();
      server.closeIdleConnections();
    },
  };

  async function serve(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
    const target = parseTarget(request.url ?? '');
    if (!target) return send(response, gatewayMessage(400, 'Bad Request'));
    if (headLength(request) > maxHeadBytes) {
      return send(response, gatewayMessage(431, 'Request Header Fields Too Large'));
    }
    const body = await readBody(request);
    if (!body) {
      send(response, gatewayMessage(413, 'Request Entity Too Large'));
      request.resume(); // otherwise a caller that is still sending receives a reset instead of the response
      return;
    }
    send(response, await gateway({ ...target, requestId, message: request, body }));
  }
}

/** The header for the request id, which API Gateway adds to every response. */
const requestIdHeader = 'apigw-requestid';

const unavailable = gatewayMessage(503, 'Service Unavailable');

/** Returns the path and the query of a request target in origin form or absolute form (RFC 9112 section 3.2). */
function parseTarget(target: string): { path: string; rawQueryString: string } | undefined {
  const origin = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?=\?|$)/, '/');
  if (!origin.startsWith('/')) return undefined;
  const [, path = '', rawQueryString = ''] = /^([^?]*)\??(.*)$/s.exec(origin) ?? [];
  return { path: decodePath(path), rawQueryString };
}

function send(response: ServerResponse, { status, headers, body }: GatewayResponse): void {
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() !== requestIdHeader) response.setHeader(name, value);
  }
  if (status !== 204 && status !== 304) response.setHeader('content-length', body.length); // RFC 9110 section 8.6
  response.writeHead(status).end(body);
}

function headLength({ method = '', url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((length, part) => length + part.length, method.length + url.length);
}

/** Returns the body of a request, or `undefined` if it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Decodes a path as API Gateway does. Malformed escapes remain unchanged. */
function decodePath(path: string): string {
  return path.replace(/(?:%[0-9a-f]{2})+/gi, encoded => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}

/** API Gateway's limits. */
const maxHeadBytes = 10_240;
const maxBodyBytes = 10 * 1024 * 1024;
