import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** A request to the built-in receiver. */
export interface ReceivedDelivery {
  /** The time of the request, in RFC 3339, UTC. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** The headers, by lower-case name. Values of repeated headers are joined with a comma and a space. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first 16 KiB of the body. */
  readonly body: string;
  /** The status of the response. */
  readonly status: number;
}

/** Creates the receiver for `https://receiver.example.com`. Its local page `/deliveries` lists requests as JSON. */
export function makeReceiver(onDelivery: (delivery: ReceivedDelivery) => void): RequestListener {
  let deliveries: ReceivedDelivery[] = [];

  const show = (request: IncomingMessage, response: ServerResponse): boolean => {
    const view = `${request.method} ${request.url}`;
    if (view === 'GET /deliveries') respond(response, 200, 'application/json', JSON.stringify(deliveries));
    else if (view === 'DELETE /deliveries') {
      deliveries = [];
      response.writeHead(204).end();
    } else return false;
    return true;
  };

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '' } = request;
    const status = statusFor(path);
    const at = new Date().toISOString();
    const headers = joinHeaders(request);
    const body = await readStart(request);
    const delivery = { at, method, path, headers, body: body.toString('utf8'), status };
    deliveries = [...deliveries, delivery].slice(-maxDeliveries);
    onDelivery(delivery);
    response.writeHead(status).end();
  };

  return function receiver(request, response) {
    const { headers, socket } = request;
    const isLocalPage = ['127.0.0.1', 'localhost'].some(name => headers.host === `${name}:${socket.localPort}`);
    if (isLocalPage && show(request, response)) return;
    receive(request, response).catch(() => response.destroy()); // the client closed the connection
  };
}

function respond(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}

/** Returns the status in a path such as `/status/503`, which demonstrates retries, or 200. */
function statusFor(path: string): number {
  return Number(/^\/status\/([2-5]\d\d)(?:[/?]|$)/.exec(path)?.[1] ?? 200);
}

function joinHeaders(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values]) => [name, values?.join(', ') ?? '']),
  );
}

async function readStart(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    if (length < maxBytes) chunks.push(chunk.subarray(0, maxBytes - length));
    length += chunk.length;
  }
  return Buffer.concat(chunks);
}

const maxDeliveries = 2_000;
const maxBytes = 16 * 1024;
