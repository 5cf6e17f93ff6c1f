import dns from 'node:dns';
import { isIP } from 'node:net';
import { divertConnections } from './connections.ts';
import { type HostMap, makeHostMap, type NetworkSettings } from './host-map.ts';

// Loaded before a function's bundle by `node --import`, so that no bundle holds a switch and its environment stays that of
// Lambda: the settings are part of this module's URL.
const settings: NetworkSettings = JSON.parse(new URL(import.meta.url).searchParams.get('settings') ?? '{}');

const hosts = makeHostMap({
  builtIn: new Map(settings.builtIn),
  mappings: new Map(settings.mappings),
  ...(settings.hostsFile === undefined ? {} : { hostsFile: settings.hostsFile }),
});
patchResolver(dns.promises.Resolver.prototype as unknown as ResolverMethods, hosts);
divertConnections(hosts, settings.terminatorPort);

/** Makes the names of the map resolve. The bundles resolve names by `Resolver` of `node:dns/promises` and no other way. */
function patchResolver(resolver: ResolverMethods, map: HostMap): void {
  const { resolve4, resolve6 } = resolver;
  const patch = (original: Query, family: 4 | 6): Query =>
    async function resolveMapped(name, ...rest) {
      const addresses = map.addressesOf(name);
      return addresses ? recordsOf(name, addresses, family) : original.call(this, name, ...rest);
    };
  resolver.resolve4 = patch(resolve4, 4);
  resolver.resolve6 = patch(resolve6, 6);
}

type ResolverMethods = Record<'resolve4' | 'resolve6', Query>;

type Query = (this: unknown, name: string, ...rest: unknown[]) => Promise<unknown>;

/** The A or AAAA records, or the error of a DNS server that has none. */
function recordsOf(name: string, addresses: readonly string[], family: 4 | 6): readonly string[] {
  const found = addresses.filter(address => isIP(address) === family);
  if (found.length > 0) return found;
  const syscall = family === 4 ? 'queryA' : 'queryAaaa';
  const code = addresses.length === 0 ? 'ENOTFOUND' : 'ENODATA';
  throw Object.assign(new Error(`${syscall} ${code} ${name}`), { code, syscall, hostname: name });
}
