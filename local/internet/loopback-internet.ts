import { unwatchFile, watchFile } from 'node:fs';
import { LocalFault, messageOf } from '../fault.ts';
import { type AddressBookSource, makeAddressBook } from './address-book.ts';
import { makeCertificateAuthority } from './certificates.ts';
import { readHosts } from './hosts-file.ts';
import type { PreloadSettings } from './preload-settings.ts';
import { type ReceivedDelivery, receiverName, startReceiver } from './receiver.ts';
import { type OnAbsence, startTlsTerminator } from './tls-terminator.ts';

/** The stand-in for the Internet: names, TLS, and the receiver that is always there. */
export interface LoopbackInternet {
  /** What function processes need in order to see it. */
  readonly preload: PreloadSettings;
  /** PEM of the authority that certifies every mapped host. */
  readonly authorityCertificate: string;
  readonly receiverUrl: string;
  stop(): Promise<void>;
}

/** Who hears what happens there. */
export interface InternetEvents {
  onDelivery(delivery: ReceivedDelivery): void;
  /** The hosts file has changed: how many names it has now, or what is wrong with it. */
  onHostsChange(change: { readonly names: number } | { readonly fault: string }): void;
  onAbsence: OnAbsence;
}

/**
 * Starts the loopback Internet.
 *
 * @throws {LocalFault} when the hosts file is missing or malformed, or the receiver's port is taken.
 */
export async function startLoopbackInternet(
  { mappings, hostsFile, receiverPort = 0 }: Omit<AddressBookSource, 'builtIn'> & { readonly receiverPort?: number },
  { onDelivery, onHostsChange, onAbsence }: InternetEvents,
): Promise<LoopbackInternet> {
  try {
    if (hostsFile !== undefined) readHosts(hostsFile);
  } catch (error) {
    throw new LocalFault(`The hosts file ${hostsFile} cannot be used: ${messageOf(error)}`);
  }
  const [receiver, authority] = await Promise.all([
    startReceiver(receiverPort, onDelivery),
    makeCertificateAuthority(),
  ]);
  const builtIn = new Map([[receiverName, receiver.port]]);
  const source = { builtIn, mappings, ...(hostsFile === undefined ? {} : { hostsFile }) };
  const terminator = await startTlsTerminator(makeAddressBook(source), authority, onAbsence);
  const unwatch = hostsFile === undefined ? () => undefined : watchHosts(hostsFile, onHostsChange);
  return {
    preload: { ...source, builtIn: [...builtIn], mappings: [...mappings], terminatorPort: terminator.port },
    authorityCertificate: authority.certificate,
    receiverUrl: receiver.url,
    stop: async () => {
      unwatch();
      await Promise.all([terminator.stop(), receiver.stop()]);
    },
  };
}

/** Processes read the hosts file themselves; this only tells the person at the terminal. */
function watchHosts(file: string, onHostsChange: InternetEvents['onHostsChange']): () => void {
  const look = (): void => {
    try {
      onHostsChange({ names: readHosts(file).size });
    } catch (error) {
      onHostsChange({ fault: messageOf(error) });
    }
  };
  watchFile(file, { interval: 500 }, look);
  return () => unwatchFile(file, look);
}
