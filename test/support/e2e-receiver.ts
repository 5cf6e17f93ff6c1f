import { mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeNow, listen } from '../../tools/support/listen.ts';
import { contractFaults, deliveryFaults } from './contract/check.ts';
import { run, until } from './e2e-target.ts';

/** The reaction of a receiver to a request. */
export type ScriptedResponse =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  /** Reads the request and never responds. */
  | 'hang'
  /** Closes the connection without a response. */
  | 'reset';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The time of arrival in milliseconds since the epoch. */
  readonly at: number;
}

/** An HTTP server with scripted responses, which the run under test reaches under a public name. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Maps a name to a local HTTP server or to addresses in the shared hosts file. A folder serves as the file's lock. */
export async function mapHost(name: string, entry: string | readonly string[]): Promise<void> {
  const file = run.hostsFile;
  if (file === null) throw new Error('The run under test has no hosts file (EMISSOR_HOSTS).');
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
    const hosts: object = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(`${file}.new`, JSON.stringify({ ...hosts, [name]: entry }, null, 2));
    renameSync(`${file}.new`, file);
  } finally {
    rmdirSync(lock);
  }
}

/** Starts a receiver on a free port, and maps `<name>-<port>.example.com` to it. */
export async function startReceiver(name: string) {
  const scripts = new Map<string, ScriptedResponse[]>();
  const requests = new Map<string, Received[]>();

  const server = createServer(async (request, response) => {
    const { url: path = '/', method = '', headers } = request;
    const body = await text(request);
    contractFaults.push(...deliveryFaults({ method, headers, body }));
    const before = received(path);
    requests.set(path, [...before, { method, path, headers, body, at: Date.now() }]);
    const script = scripts.get(path) ?? [];
    const scripted = script[Math.min(before.length, script.length - 1)] ?? { status: 204 };
    if (scripted === 'reset') request.socket.destroy();
    else if (scripted !== 'hang') response.writeHead(scripted.status, scripted.headers).end(scripted.body);
  });
  const port = await listen(server);
  const host = `${name}-${port}.example.com`;
  await mapHost(host, `http://127.0.0.1:${port}`);
  return {
    port,
    /** Returns the `https` URL for a path on this receiver. */
    url: (path: string) => `https://${host}${path}`,
    /** Sets the responses for a path, one for each request. The last response repeats. Other paths return 204. */
    script: (path: string, ...script: [ScriptedResponse, ...ScriptedResponse[]]) => void scripts.set(path, script),
    received,
    waitFor,
    stop: () => closeNow(server),
  };

  /** Returns the requests to the path so far. */
  function received(path: string): readonly Received[] {
    return requests.get(path) ?? [];
  }

  /** Waits until the path has received that many requests. */
  function waitFor(path: string, count: number, limit?: number): Promise<readonly Received[]> {
    const find = () => (received(path).length >= count ? received(path).slice(0, count) : undefined);
    return until(`request ${count} at ${path}`, find, limit);
  }
}
