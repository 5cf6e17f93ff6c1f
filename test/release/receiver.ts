import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { closeNow, listen } from '../../tools/support/listen.ts';

/** A path's treatment of deliveries: it accepts them (204), asks for time (503 with `Retry-After`, in seconds), or never answers. */
type Behaviour = 'accept' | 'hang' | { readonly retryAfter: number };

/** A delivery as it arrived. */
export interface Arrival {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly isAccepted: boolean;
  /** True when it was signed with the path's secret. That is judged at once, since a signature is good for five minutes. */
  readonly isSigned: boolean;
}

/** A receiver that outlives the runs whose Internet it is in. */
export interface Receiver {
  readonly port: number;
  /** The host that runs must map to `port`. */
  readonly host: string;
  /** Sets the signing secret of a path's deliveries. */
  expectSignature(path: string, secret: string): void;
  /** Sets what a path does from now on; unset paths accept. */
  set(path: string, behaviour: Behaviour): void;
  /** Returns the deliveries that arrived at a path. */
  arrivals(path: string): readonly Arrival[];
  stop(): void;
}

/** Starts a receiver on a free port of this machine. */
export async function startReceiver(): Promise<Receiver> {
  const behaviours = new Map<string, Behaviour>();
  const secrets = new Map<string, string>();
  const arrived: Arrival[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/';
    const body = await text(request).catch(() => undefined); // cut off with the process that sent it
    if (body === undefined) return;
    const behaviour = behaviours.get(path) ?? 'accept';
    const { headers } = request;
    const isSigned = verifies(secrets.get(path), body, headers);
    arrived.push({ path, headers, body, isAccepted: behaviour === 'accept', isSigned });
    if (behaviour === 'accept') response.writeHead(204).end();
    else if (behaviour !== 'hang') response.writeHead(503, { 'retry-after': String(behaviour.retryAfter) }).end();
  });
  const port = await listen(server);
  return {
    port,
    host: 'releases.example.com',
    expectSignature: (path, secret) => void secrets.set(path, secret),
    set: (path, behaviour) => void behaviours.set(path, behaviour),
    arrivals: path => arrived.filter(arrival => arrival.path === path),
    stop: () => void closeNow(server),
  };
}

function verifies(secret: string | undefined, body: string, headers: IncomingHttpHeaders): boolean {
  try {
    new Webhook(secret ?? '').verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
