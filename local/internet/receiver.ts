import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '../loopback-server.ts';
import { renderDeliveries } from './receiver-page.ts';

/** One request as the built-in receiver got it. */
export interface ReceivedDelivery {
  /** RFC 3339, UTC. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** Names in lower case; duplicates joined by a comma and a blank. */
  readonly headers: Readonly<Record<string, string>>;
  /** At most the first 16 KiB. */
  readonly body: string;
  /** The status it was answered with. */
  readonly status: number;
}

/** The receiver behind `https://receiver.example.com`. */
export interface Receiver {
  readonly port: number;
  /** Where a person or a test sees what it got. */
  readonly url: string;
  stop(): Promise<void>;
}

/** The name the built-in receiver answers for. */
export const receiverName = 'receiver.example.com';

/**
 * Starts the receiver on a port of 127.0.0.1; 0 takes any free one. `onDelivery` hears of each delivery as it comes.
 *
 * @throws {LocalFault} when the port cannot be had.
 */
export async function startReceiver(
  wantedPort: number,
  onDelivery: (delivery: ReceivedDelivery) => void,
): Promise<Receiver> {
  let deliveries: ReceivedDelivery[] = [];

  const show = (request: IncomingMessage, response: ServerResponse): boolean => {
    const view = `${request.method} ${request.url}`;
    if (view === 'GET /') answer(response, 200, 'text/html; charset=utf-8', renderDeliveries(deliveries));
    else if (view === 'GET /deliveries') answer(response, 200, 'application/json', JSON.stringify(deliveries));
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
    const delivery = { at, method, path, headers: joinHeaders(request), body: await readStart(request), status };
    deliveries = [...deliveries, delivery].slice(-keptDeliveries);
    onDelivery(delivery);
    response.writeHead(status).end();
  };

  const server = createServer((request, response) => {
    const isAskedHere = request.headers.host === `127.0.0.1:${port}` || request.headers.host === `localhost:${port}`;
    if (isAskedHere && show(request, response)) return;
    receive(request, response).catch(() => response.destroy()); // cut off in the middle
  });
  const { port, stop } = await listenOnLoopback(server, wantedPort);
  return { port, url: `http://127.0.0.1:${port}`, stop };
}

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}

/** `/status/503` answers 503, so that retries can be watched; everything else 200. */
function statusFor(path: string): number {
  return Number(/^\/status\/([2-5]\d\d)(?:[/?]|$)/.exec(path)?.[1] ?? 200);
}

function joinHeaders(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values]) => [name, values?.join(', ') ?? '']),
  );
}

async function readStart(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    if (length < keptBytes) chunks.push(chunk.subarray(0, keptBytes - length));
    length += chunk.length;
  }
  return Buffer.concat(chunks).toString('utf8');
}

const keptDeliveries = 2_000;
const keptBytes = 16 * 1024;
