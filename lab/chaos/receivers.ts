import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ReceiverBehaviour } from './receiver-behaviours.ts';

/** A delivery as it arrived. */
export interface Arrival {
  /** Index of the behaviour of its receiver. */
  readonly behaviour: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Returns the status that the receiver has answered with by now, if any: its caller may have died before it read that. */
  readonly answered: () => number | undefined;
  /** The fault found in it. */
  readonly problem: string | undefined;
}

/** Checks a delivery as it arrives, since signatures are good for five minutes only. Returns what is wrong with it. */
export type Inspect = (headers: Arrival['headers'], body: string) => string | undefined;

/** The receivers of a run, all of them one plain HTTP server of this process. */
export interface Receivers {
  readonly port: number;
  /** The path of receivers with this behaviour; their host names differ. */
  pathOf(behaviour: ReceiverBehaviour): string;
  readonly arrivals: readonly Arrival[];
  /** Counts requests to the target of a redirect. */
  readonly followed: () => number;
  /** Inspects every delivery from now on. */
  inspectWith(inspect: Inspect): void;
  stop(): void;
}

/** Starts the receivers on a free port of this machine. */
export async function startReceivers(behaviours: readonly ReceiverBehaviour[]): Promise<Receivers> {
  const arrivals: Arrival[] = [];
  const visits = new Map<string, number>();
  let followed = 0;
  let inspect: Inspect = () => undefined;

  const server = createServer(async (request, response) => {
    const at = Date.now();
    const index = Number(/^\/(\d+)(?:\?|$)/.exec(request.url ?? '')?.[1] ?? -1);
    const behaviour = behaviours[index];
    if (!behaviour) {
      followed += 1;
      response.writeHead(204).end();
      return;
    }
    const body = await text(request).catch(() => undefined); // cut off with the process that sent it
    if (body === undefined) return;
    const id = String(request.headers['webhook-id']);
    const earlier = visits.get(id) ?? 0;
    visits.set(id, earlier + 1);
    const answered = () => (response.headersSent ? response.statusCode : undefined);
    const problem = inspect(request.headers, body);
    arrivals.push({ behaviour: index, headers: request.headers, body, at, answered, problem });
    response.on('error', () => undefined);
    behaviour.answer({ request, response, earlier });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    pathOf: behaviour => `/${behaviours.indexOf(behaviour)}`,
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
