import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type LoopbackServer, listenOnLoopback } from '../loopback-server.ts';
import { type IncomingRequest, makeRequestId } from './event.ts';
import { type GatewayResponse, gatewayMessage } from './response.ts';

export type RequestHandler = (request: IncomingRequest) => Promise<GatewayResponse>;

export interface HttpServer extends LoopbackServer {
  /** Begins to answer requests; before, they get 503. */
  open(handler: RequestHandler): void;
  /** Accepts no more requests and lets running ones end. */
  close(): void;
}

/** Starts the server on a port of 127.0.0.1; 0 takes any free one. @throws {StartError} when the port is in use. */
export async function startHttpServer(port: number): Promise<HttpServer> {
  let handle: RequestHandler = async () => unavailable;

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const receivedAt = Date.now();
    const requestId = makeRequestId();
    response.setHeader(ownHeader, requestId);
    const target = parseTarget(request.url ?? '');
    if (!target) return send(response, badRequest);
    if (headLength(request) > largestHead) return send(response, headTooLarge);
    const body = await readBody(request);
    if (!body) {
      send(response, tooLarge);
      request.resume(); // or a caller that is still sending would see a reset instead of the response
      return;
    }
    const { method = '', httpVersion, rawHeaders, socket } = request;
    const sourceIp = socket.remoteAddress ?? '127.0.0.1';
    const protocol = `HTTP/${httpVersion}`;
    const answered = await handle({ ...target, requestId, method, protocol, rawHeaders, body, sourceIp, receivedAt });
    try {
      send(response, answered);
    } catch {
      for (const name of response.getHeaderNames()) if (name !== ownHeader) response.removeHeader(name);
      send(response, internalError); // a header that HTTP does not allow
    }
  };

  const server = createServer({ maxHeaderSize: 8 * largestHead }, (request, response) => {
    serve(request, response).catch(() => response.destroy()); // the caller has disconnected
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  const listening = await listenOnLoopback(server, port);
  return {
    ...listening,
    open: handler => {
      handle = handler;
    },
    close: () => {
      server.close();
      server.closeIdleConnections();
    },
  };
}

/** The header that API Gateway adds to every answer: its id of the request. */
const ownHeader = 'apigw-requestid';

const unavailable = gatewayMessage(503, 'Service Unavailable');

/** Path and query of a request target in origin form or in absolute form (RFC 9112 section 3.2). */
function parseTarget(target: string): { path: string; rawQueryString: string } | undefined {
  const origin = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?=\?|$)/, '/');
  if (!origin.startsWith('/')) return undefined;
  const mark = origin.indexOf('?');
  const path = mark < 0 ? origin : origin.slice(0, mark);
  return { path: decodePath(path), rawQueryString: mark < 0 ? '' : origin.slice(mark + 1) };
}

function send(response: ServerResponse, { status, headers, body }: GatewayResponse): void {
  for (const [name, value] of headers) if (name.toLowerCase() !== ownHeader) response.appendHeader(name, value);
  if (status !== 204 && status !== 304) response.setHeader('content-length', body.length); // RFC 9110 section 8.6
  response.writeHead(status).end(body);
}

const badRequest = gatewayMessage(400, 'Bad Request');

function headLength({ method = '', url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((length, part) => length + part.length, method.length + url.length);
}

const largestHead = 10_240;

const headTooLarge = gatewayMessage(431, 'Request Header Fields Too Large');

/** Reads the body; `undefined` when it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > largestBody) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > largestBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const tooLarge = gatewayMessage(413, 'Request Entity Too Large');
const internalError = gatewayMessage(500, 'Internal Server Error');

/** API Gateway decodes paths. What cannot be decoded stays as it is. */
function decodePath(path: string): string {
  return path.replace(/(?:%[0-9a-f]{2})+/gi, encoded => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}

/** API Gateway's limits, in bytes. */
const largestBody = 10 * 1024 * 1024;
