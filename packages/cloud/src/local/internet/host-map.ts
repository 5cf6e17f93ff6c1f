import { createHash } from 'node:crypto';
import { followFile } from '../followed-file.ts';
import { type HostDelays, type HostTable, normaliseName, readHosts } from './hosts-file.ts';

/**
 * The emulated DNS: which names lead to which addresses and ports. The hosts file is checked for changes at every query, so
 * that a change takes effect at once in every process.
 */
export interface HostMap {
  /** The addresses of a name; `undefined` for names that the machine's own resolver answers. */
  addressesOf(name: string): readonly string[] | undefined;
  /** The mapped name that has an address. */
  nameAt(address: string): string | undefined;
  /** The port on 127.0.0.1 of the plain HTTP server behind a mapped name. */
  portOf(name: string): number | undefined;
  /** By how much a mapped name keeps its callers waiting. */
  delaysOf(name: string): HostDelays;
}

export interface HostMapSource {
  /** Names that always exist, and their ports; the others override them. */
  readonly builtIn: Iterable<Mapping>;
  /** The mappings of the command line; they override the file. */
  readonly mappings: Iterable<Mapping>;
  readonly hostsFile?: string | undefined;
}

/** The settings of the preload module of a function process. They are passed as JSON in the module's own URL. */
export interface NetworkSettings extends HostMapSource {
  readonly builtIn: readonly Mapping[];
  readonly mappings: readonly Mapping[];
  /** The place where connections to mapped names are diverted to. */
  readonly terminatorPort: number;
}

/** Makes the host map. */
export function makeHostMap({ builtIn, mappings, hostsFile }: HostMapSource): HostMap {
  const snapshotOf = (file: HostTable): Snapshot =>
    makeSnapshot(new Map([...toTable(builtIn), ...file, ...toTable(mappings)]));
  const always = snapshotOf(new Map());
  const current =
    hostsFile === undefined ? () => always : followFile(hostsFile, file => snapshotOf(readHosts(file)), always);

  const mappedAt = (text: string) => {
    const name = normaliseName(text);
    const entry = name === undefined ? undefined : current().table.get(name);
    return entry && 'port' in entry ? entry : undefined;
  };

  return {
    addressesOf: text => {
      const name = normaliseName(text);
      if (name === undefined) return undefined;
      const { table, addresses } = current();
      const entry = table.get(name);
      if (!entry) return undefined;
      return 'addresses' in entry ? entry.addresses : [addresses.get(name) ?? ''];
    },
    nameAt: address => current().names.get(address),
    portOf: text => mappedAt(text)?.port,
    delaysOf: text => ({ resolvesAfter: 0, handshakeAfter: 0, ...mappedAt(text)?.delays }),
  };
}

type Mapping = readonly [string, number];

interface Snapshot {
  readonly table: HostTable;
  readonly addresses: ReadonlyMap<string, string>;
  readonly names: ReadonlyMap<string, string>;
}

function makeSnapshot(table: HostTable): Snapshot {
  const mapped = [...table].flatMap(([name, entry]) => ('port' in entry ? [name] : []));
  const addresses = assignAddresses(mapped);
  return { table, addresses, names: new Map([...addresses].map(([name, address]) => [address, name])) };
}

function toTable(mappings: Iterable<Mapping>): HostTable {
  return new Map([...mappings].map(([name, port]) => [name, { port }]));
}

/**
 * Assigns every mapped name an address of its own. It depends on the names only, so that all processes agree without
 * talking to each other; on a clash the next free address is used.
 */
function assignAddresses(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Map<string, string>();
  for (const name of [...names].sort()) {
    let slot = createHash('sha256').update(name).digest().readUInt16BE(0);
    const address = () => `${blockPrefix}.${slot >> 8}.${slot & 255}`;
    while (taken.has(address())) slot = (slot + 1) % blockSize;
    taken.set(address(), name);
  }
  return new Map([...taken].map(([address, name]) => [name, address]));
}

/** A block of global unicast addresses, so that the production guard sees nothing unusual. */
const blockPrefix = '93.184';
const blockSize = 65_536;
