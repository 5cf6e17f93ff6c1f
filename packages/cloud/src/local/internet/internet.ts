import { createServer, type RequestListener } from 'node:http';
import { resolve } from 'node:path';
import { type Change, readAtStart, watchChanges } from '../followed-file.ts';
import { allOrNone, listenOnLoopback } from '../loopback-server.ts';
import type { HostMapSource, NetworkSettings } from './host-map.ts';
import { type HostTable, readHosts } from './hosts-file.ts';
import type { OnUnreachable } from './tls-terminator.ts';
import { startTerminatorThread } from './tls-terminator-thread.ts';

/** A server of this run behind a public name: `https://NAME/…` leads to it. */
export interface Site {
  readonly name: string;
  /** The output that has its address on this machine. */
  readonly output: string;
  /** @default 0 - any free one */
  readonly port?: number;
  readonly handle: RequestListener;
}

/** The names that lead to servers of this machine. */
export interface Names extends Omit<HostMapSource, 'builtIn'> {
  /** @default - none */
  readonly sites?: readonly Site[];
}

/** The emulated Internet: names, TLS, and the sites. */
export interface Internet {
  /** The settings that function processes need in order to reach it. */
  readonly settings: NetworkSettings;
  /** PEM of the authority that issues the certificates of all mapped hosts. */
  readonly authorityCertificate: string;
  /** `http://127.0.0.1:port` of each site, by its output. */
  readonly siteUrls: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export interface InternetEvents {
  onHostsChange(change: Change<HostTable>): void;
  onUnreachable: OnUnreachable;
}

/**
 * Starts the emulated Internet.
 *
 * @throws {StartError} when the hosts file is missing or malformed, or the port of a site is taken.
 */
export async function startInternet(
  { mappings, hostsFile: givenFile, sites = [] }: Names,
  { onHostsChange, onUnreachable }: InternetEvents,
): Promise<Internet> {
  const hostsFile = givenFile && resolve(givenFile); // function processes have other working directories
  if (hostsFile !== undefined) readAtStart('hosts', hostsFile, readHosts);
  const servers = await allOrNone(sites.map(startSite));
  const builtIn = new Map(servers.map(({ name, port }) => [name, port]));
  const source = { builtIn, mappings, hostsFile };
  const terminator = await startTerminatorThread(source, onUnreachable);
  // Processes read the hosts file themselves: the watch is for the terminal only.
  const unwatch = hostsFile === undefined ? () => undefined : watchChanges(hostsFile, readHosts, onHostsChange);
  return {
    settings: { ...source, builtIn: [...builtIn], mappings: [...mappings], terminatorPort: terminator.port },
    authorityCertificate: terminator.authorityCertificate,
    siteUrls: Object.fromEntries(servers.map(({ output, port }) => [output, `http://127.0.0.1:${port}`])),
    stop: async () => {
      unwatch();
      await Promise.all([terminator, ...servers].map(({ stop }) => stop()));
    },
  };
}

async function startSite({ name, output, port, handle }: Site) {
  return { name, output, ...(await listenOnLoopback(createServer(handle), port)) };
}
