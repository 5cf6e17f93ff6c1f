import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { type HostTable, normaliseName, readHosts } from './hosts-file.ts';

/**
 * The loopback Internet's answers, always current: the hosts file is looked at on every question, so that a change
 * holds at once in every process, without anyone telling them.
 */
export interface AddressBook {
  /** The addresses a name answers with; `undefined` for names the machine's own resolver answers. */
  addressesOf(name: string): readonly string[] | undefined;
  /** The mapped name that lives at an address. */
  nameAt(address: string): string | undefined;
  /** The port on 127.0.0.1 of the plain HTTP server behind a mapped name. */
  portOf(name: string): number | undefined;
}

/** What an address book is made of. */
export interface AddressBookSource {
  /** Always there, unless something else says otherwise. */
  readonly builtIn: ReadonlyMap<string, number>;
  /** The mappings of the command line; they win over the file. */
  readonly mappings: ReadonlyMap<string, number>;
  readonly hostsFile?: string;
}

/**
 * Opens an address book. A hosts file that is unreadable or malformed, for instance because it is being written, leaves
 * the last good one in force.
 */
export function makeAddressBook({ builtIn, mappings, hostsFile }: AddressBookSource): AddressBook {
  const pageOf = (file: HostTable): Page => makePage(new Map([...toTable(builtIn), ...file, ...toTable(mappings)]));
  let page = pageOf(new Map());
  let seen = '';

  const currentPage = (): Page => {
    if (hostsFile === undefined) return page;
    const status = statSync(hostsFile, { bigint: true, throwIfNoEntry: false });
    const version = status ? `${status.ino}:${status.size}:${status.mtimeNs}` : '';
    if (version === seen || !status) return page;
    try {
      page = pageOf(readHosts(hostsFile));
    } catch {
      return page;
    }
    if (Date.now() - Number(status.mtimeMs) > timeStampSettles) seen = version;
    return page;
  };

  return {
    addressesOf: text => {
      const name = normaliseName(text);
      if (name === undefined) return undefined;
      const { table, addresses } = currentPage();
      const entry = table.get(name);
      if (!entry) return undefined;
      return 'addresses' in entry ? entry.addresses : [addresses.get(name) ?? ''];
    },
    nameAt: address => currentPage().names.get(address),
    portOf: text => {
      const name = normaliseName(text);
      const entry = name === undefined ? undefined : currentPage().table.get(name);
      return entry && 'port' in entry ? entry.port : undefined;
    },
  };
}

interface Page {
  readonly table: HostTable;
  readonly addresses: ReadonlyMap<string, string>;
  readonly names: ReadonlyMap<string, string>;
}

function makePage(table: HostTable): Page {
  const mapped = [...table].flatMap(([name, entry]) => ('port' in entry ? [name] : []));
  const addresses = assignAddresses(mapped);
  return { table, addresses, names: new Map([...addresses].map(([name, address]) => [address, name])) };
}

function toTable(mappings: ReadonlyMap<string, number>): HostTable {
  return new Map([...mappings].map(([name, port]) => [name, { port }]));
}

/** A file changed within the last moments may change again without its time stamp moving. */
const timeStampSettles = 50;

/**
 * Gives every mapped name an address of its own. It depends on the names only, so that all processes agree without
 * talking to each other; clashes move on to the next free address.
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
