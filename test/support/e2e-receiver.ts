import { mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeNow, listen } from '../../tools/support/listen.ts';
import { observeDelivery } from './contract/observer.ts';
import { until } from './e2e-poll.ts';
import { run } from './e2e-target.ts';

/** The receiver's reaction to a request: an HTTP answer, or a way of not sending one. */
export type Answer =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Takes the request and never answers. */
  | 'hang'
  /** Closes the connection without an answer. */
  | 'reset';

/** A delivery as it arrived. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A scripted HTTP server that the run under test reaches under public-looking names. */
export interface Receiver {
  readonly port: number;
  /** The `https` address of a path under the receiver's own name. */
  url(path: string): string;
  /** Sets the path's answers: one entry per request, the last for all that follow. Unscripted paths answer 204. */
  script(path: string, ...answers: [Answer, ...Answer[]]): void;
  /** Returns the requests that have arrived at the path. */
  received(path: string): readonly Received[];
  /** Waits until that many requests have arrived at the path. */
  waitFor(path: string, count: number, limit?: number): Promise<readonly Received[]>;
  stop(): Promise<void>;
}

/** Lets a name of the run's Internet stand for something, from now on. */
export function mapHost(name: string, entry: HostEntry): Promise<void> {
  return changeHosts(hosts => {
    hosts[name] = entry;
  });
}

/** Starts a receiver on a free port of this machine, known to the run as `<name>.example.com`. */
export async function startReceiver(name: string): Promise<Receiver> {
  const scripts = new Map<string, Answer[]>();
  const arrived = new Map<string, Received[]>();

  const server = createServer(async (request, response) => {
    const path = request.url ?? '/';
    const body = await readBody(request);
    const { method = '', headers, rawHeaders } = request;
    observeDelivery({ method, headers, body });
    const before = arrived.get(path) ?? [];
    arrived.set(path, [...before, { method, path, headers, rawHeaders, body, at: Date.now() }]);
    const script = scripts.get(path) ?? [];
    give(script[Math.min(before.length, script.length - 1)] ?? { status: 204 }, request, response);
  });
  const port = await listen(server);
  const host = `${name}-${port}.example.com`;
  await mapHost(host, `http://127.0.0.1:${port}`);

  const received = (path: string) => arrived.get(path) ?? [];
  return {
    port,
    url: path => `https://${host}${path}`,
    script: (path, ...answers) => {
      scripts.set(path, answers);
    },
    received,
    waitFor: (path, count, limit) =>
      until(
        `request ${count} at ${path}`,
        () => (received(path).length >= count ? received(path).slice(0, count) : undefined),
        limit,
      ),
    stop: () => closeNow(server),
  };
}

/** The target of a name of the run's Internet: a plain HTTP server here, or any addresses. */
type HostEntry = string | readonly string[];

/** Test files run at once and share the file: a folder is the lock, and a rename makes each change whole. */
async function changeHosts(change: (hosts: Record<string, HostEntry>) => void): Promise<void> {
  const file = run.hostsFile;
  if (file === null) throw new Error('Names cannot be mapped here.');
  const lock = `${file}.lock`;
  await until('the lock of the hosts file', () => {
    try {
      mkdirSync(lock);
      return true;
    } catch {
      return undefined;
    }
  });
  try {
    const hosts: Record<string, HostEntry> = JSON.parse(readFileSync(file, 'utf8'));
    change(hosts);
    writeFileSync(`${file}.new`, JSON.stringify(hosts, null, 2));
    renameSync(`${file}.new`, file);
  } finally {
    rmdirSync(lock);
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function give(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
  if (answer === 'hang') return;
  if (answer === 'reset') {
    request.socket.destroy();
    return;
  }
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body);
}
