import { createHash } from 'node:crypto';
import { followFile } from '../followed-file.ts';
import { type HostTable, normaliseName, parseHosts } from './hosts-file.ts';

/**
 * The emulated DNS. Every query checks the hosts file for changes, so a change takes effect immediately in every process.
 */
export interface HostMap {
  /** Returns the addresses of a name, or `undefined` if the system resolves the name. */
  addressesOf(name: string): readonly string[] | undefined;
  /** Returns whether an address belongs to a mapped name. */
  isMapped(address: string): boolean;
  /** Returns the port of the local HTTP server behind a mapped name. */
  portOf(name: string): number | undefined;
}

export interface HostMapSource {
  /** The default mappings. All other mappings override them. */
  readonly builtIn: Iterable<Mapping>;
  /** The mappings from the command line. They override the hosts file. */
  readonly mappings: Iterable<Mapping>;
  readonly hostsFile?: string | undefined;
}

/** The settings for the preload module of a function process. The URL of the module contains them as JSON. */
export interface NetworkSettings extends HostMapSource {
  readonly builtIn: readonly Mapping[];
  readonly mappings: readonly Mapping[];
  /** The port of the TLS terminator. */
  readonly terminatorPort: number;
}

export function makeHostMap({ builtIn, mappings, hostsFile }: HostMapSource): HostMap {
  const snapshotOf = (file: HostTable) => makeSnapshot(new Map([...builtIn, ...file, ...mappings]));
  const fixed = snapshotOf(new Map());
  const current =
    hostsFile === undefined ? () => fixed : followFile(hostsFile, text => snapshotOf(parseHosts(text)), fixed);

  return {
    addressesOf: text => {
      const name = normaliseName(text) ?? '';
      const { table, addresses } = current();
      const target = table.get(name);
      return typeof target === 'number' ? [addresses.get(name) ?? ''] : target;
    },
    isMapped: address => current().mapped.has(address),
    portOf: text => {
      const target = current().table.get(normaliseName(text) ?? '');
      return typeof target === 'number' ? target : undefined;
    },
  };
}

type Mapping = readonly [name: string, port: number];

function makeSnapshot(table: HostTable) {
  const addresses = assignAddresses([...table].flatMap(([name, target]) => (typeof target === 'number' ? [name] : [])));
  return { table, addresses, mapped: new Set(addresses.values()) };
}

/**
 * Assigns an address to every mapped name. The addresses depend only on the names, so all processes assign the same ones.
 * If two names have the same hash, the second one gets the next free address.
 */
function assignAddresses(names: readonly string[]): ReadonlyMap<string, string> {
  const assigned = new Map<string, string>();
  for (const name of [...names].sort()) {
    let slot = createHash('sha256').update(name).digest().readUInt16BE(0);
    const address = () => `${blockPrefix}.${slot >> 8}.${slot & 255}`;
    while (assigned.has(address())) slot = (slot + 1) % blockSize;
    assigned.set(address(), name);
  }
  return new Map([...assigned].map(([address, name]) => [name, address]));
}

/** The prefix of a public address block, which the service accepts. */
const blockPrefix = '93.184';
const blockSize = 65_536;
