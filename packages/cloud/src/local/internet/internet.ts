import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { readAtStart, watchChanges } from '../followed-file.ts';
import { listenOnLoopback } from '../loopback-server.ts';
import type { NetworkSettings } from './host-map.ts';
import { parseHosts } from './hosts-file.ts';
import type { TerminatorReport } from './tls-terminator.ts';

/** A server in the run with a public name. Functions reach it at `https://NAME/…`. */
export interface Site {
  readonly name: string;
  readonly port: number;
  readonly handle: RequestListener;
}

/** The emulated Internet. It provides names, TLS and the site. */
export interface Internet {
  /** The settings for function processes. */
  readonly settings: NetworkSettings;
  /** The certificate (PEM) of the certificate authority for all mapped hosts. */
  readonly authorityCertificate: string;
  /** The local address of the site, `http://127.0.0.1:port`. */
  readonly siteUrl: string;
  stop(): Promise<void>;
}

/**
 * Starts the emulated Internet.
 *
 * @param note - shows a line to the user, with its source
 * @throws {StartError} if the hosts file is missing or malformed, or the port of the site is in use
 */
export async function startInternet(
  { site, mappings = new Map(), hostsFile: file }: InternetRequest,
  note: (source: string, text: string, level: 'info' | 'warn') => void,
): Promise<Internet> {
  const hostsFile = file && resolve(file); // function processes have other working directories
  if (hostsFile !== undefined) readAtStart('hosts', hostsFile, parseHosts);
  const server = await listenOnLoopback(createServer(site.handle), site.port);
  const hostMap = { builtIn: [[site.name, server.port]], mappings: [...mappings], hostsFile } as const;
  // The terminator has its own thread, because libuv accepts only one connection per iteration of an event loop. In a
  // thread that is busy with tables and queues, new connections would wait for seconds.
  const worker = new Worker(new URL('./tls-terminator.ts', import.meta.url), { workerData: hostMap });
  const { promise: started, resolve: start, reject: fail } = Promise.withResolvers<Listening>();
  worker.once('error', fail);
  worker.on('message', (message: TerminatorReport) => {
    if ('listening' in message) return start(message.listening);
    const { name, port } = message.unreachable;
    note('internet', `no server is listening at http://localhost:${port} (${name}): start your receiver`, 'warn');
  });
  const { port: terminatorPort, authorityCertificate } = await started;
  // Processes read the hosts file themselves. The watch only reports changes in the terminal.
  const unwatch = hostsFile === undefined ? undefined : watchChanges(hostsFile, parseHosts, noteChange);
  return {
    settings: { ...hostMap, terminatorPort },
    authorityCertificate,
    siteUrl: `http://127.0.0.1:${server.port}`,
    stop: async () => {
      unwatch?.();
      worker.postMessage('stop');
      await Promise.all([once(worker, 'exit'), server.stop()]);
    },
  };

  function noteChange(problem: string | undefined): void {
    if (problem === undefined) note('hosts', 'reloaded', 'info');
    else note('hosts', `${problem} The previous names stay in effect.`, 'warn');
  }
}

interface InternetRequest {
  readonly site: Site;
  /** The port of an HTTP server on 127.0.0.1 for each public host name. @default - no names */
  readonly mappings?: ReadonlyMap<string, number> | undefined;
  /** A file with more names. Its changes take effect immediately. @default - no file */
  readonly hostsFile?: string | undefined;
}

type Listening = Extract<TerminatorReport, object & { readonly listening: unknown }>['listening'];
