import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Kind } from './kinds.ts';

/** A delivery as it arrived. */
export interface Arrival {
  /** Index of the kind of receiver it came to. */
  readonly kind: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What was wrong with it. */
  readonly fault: string | undefined;
}

/** Looks at a delivery as it arrives: signatures are good for five minutes only. Gives what is wrong with it. */
export type Inspect = (headers: Arrival['headers'], body: string) => string | undefined;

/** The receivers of a run, all of them one plain HTTP server of this process. */
export interface Receivers {
  readonly port: number;
  /** Path of a kind's receivers; the names differ, the behaviour is told by the path. */
  pathOf(kind: Kind): string;
  readonly arrivals: readonly Arrival[];
  /** Requests to where a redirect led. */
  readonly followed: () => number;
  /** Has every delivery from now on looked at. */
  inspectWith(inspect: Inspect): void;
  stop(): void;
}

/** Starts the receivers on a free port of this machine. */
export async function startReceivers(kinds: readonly Kind[]): Promise<Receivers> {
  const arrivals: Arrival[] = [];
  const visits = new Map<string, number>();
  let followed = 0;
  let inspect: Inspect = () => undefined;

  const server = createServer(async (request, response) => {
    const at = Date.now();
    const index = Number(/^\/(\d+)(?:\?|$)/.exec(request.url ?? '')?.[1] ?? -1);
    const kind = kinds[index];
    if (!kind) {
      followed += 1;
      response.writeHead(204).end();
      return;
    }
    const body = await text(request).catch(() => undefined); // cut off with the process that sent it
    if (body === undefined) return;
    const id = String(request.headers['webhook-id']);
    const earlier = visits.get(id) ?? 0;
    visits.set(id, earlier + 1);
    arrivals.push({ kind: index, headers: request.headers, body, at, fault: inspect(request.headers, body) });
    response.on('error', () => undefined);
    kind.answer({ request, response, earlier });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    pathOf: kind => `/${kinds.indexOf(kind)}`,
    arrivals,
    followed: () => followed,
    inspectWith: given => {
      inspect = given;
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
