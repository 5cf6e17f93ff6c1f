import { unwatchFile, watchFile } from 'node:fs';
import { messageOf, StartError } from '../errors.ts';
import type { HostMapSource, NetworkSettings } from './host-map.ts';
import { readHosts } from './hosts-file.ts';
import { type ReceivedDelivery, receiverName, startReceiver } from './receiver.ts';
import type { OnUnreachable } from './tls-terminator.ts';
import { startTerminatorThread } from './tls-terminator-thread.ts';

/** The emulated Internet: names, TLS, and the built-in receiver. */
export interface Internet {
  /** What function processes need in order to reach it. */
  readonly settings: NetworkSettings;
  /** PEM of the authority that issues the certificates of all mapped hosts. */
  readonly authorityCertificate: string;
  readonly receiverUrl: string;
  stop(): Promise<void>;
}

/** What happens there. */
export interface InternetEvents {
  onDelivery(delivery: ReceivedDelivery): void;
  /** The hosts file has changed: how many names it has now, or what is wrong with it. */
  onHostsChange(change: { readonly names: number } | { readonly problem: string }): void;
  onUnreachable: OnUnreachable;
}

/**
 * Starts the emulated Internet.
 *
 * @throws {StartError} when the hosts file is missing or malformed, or the receiver's port is taken.
 */
export async function startInternet(
  { mappings, hostsFile, receiverPort = 0 }: Omit<HostMapSource, 'builtIn'> & { readonly receiverPort?: number },
  { onDelivery, onHostsChange, onUnreachable }: InternetEvents,
): Promise<Internet> {
  try {
    if (hostsFile !== undefined) readHosts(hostsFile);
  } catch (error) {
    throw new StartError(`The hosts file ${hostsFile} cannot be used: ${messageOf(error)}`);
  }
  const receiver = await startReceiver(receiverPort, onDelivery);
  const builtIn = new Map([[receiverName, receiver.port]]);
  const source = { builtIn, mappings, ...(hostsFile === undefined ? {} : { hostsFile }) };
  const terminator = await startTerminatorThread(source, onUnreachable);
  const unwatch = hostsFile === undefined ? () => undefined : watchHosts(hostsFile, onHostsChange);
  return {
    settings: { ...source, builtIn: [...builtIn], mappings: [...mappings], terminatorPort: terminator.port },
    authorityCertificate: terminator.authorityCertificate,
    receiverUrl: receiver.url,
    stop: async () => {
      unwatch();
      await Promise.all([terminator.stop(), receiver.stop()]);
    },
  };
}

/** Processes read the hosts file themselves; this only reports changes in the terminal. */
function watchHosts(file: string, onHostsChange: InternetEvents['onHostsChange']): () => void {
  const look = (): void => {
    try {
      onHostsChange({ names: readHosts(file).size });
    } catch (error) {
      onHostsChange({ problem: messageOf(error) });
    }
  };
  watchFile(file, { interval: 500 }, look);
  return () => unwatchFile(file, look);
}
