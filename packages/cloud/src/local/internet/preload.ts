import dns from 'node:dns';
import net, { isIP } from 'node:net';
import { makeHostMap, type NetworkSettings } from './host-map.ts';

// `node --import` loads this module before a function's bundle. Bundles thus contain no switch, and their environment
// is that of Lambda. The settings are part of this module's URL.
const settings: NetworkSettings = JSON.parse(new URL(import.meta.url).searchParams.get('settings') ?? '{}');

const hosts = makeHostMap(settings);
divertConnections(settings.terminatorPort);

// Resolves the names of the map. The bundles resolve names only with `Resolver` of `node:dns/promises`.
const resolver: Record<'resolve4' | 'resolve6', Query> = dns.promises.Resolver.prototype;
resolver.resolve4 = withHosts(resolver.resolve4, 4);
resolver.resolve6 = withHosts(resolver.resolve6, 6);

type Query = (this: dns.promises.Resolver, name: string, ...rest: never[]) => Promise<unknown>;

/** Responds to a query for a name of the map as a DNS server does, with records or an error. */
function withHosts(original: Query, family: 4 | 6): Query {
  return async function resolveMapped(name, ...rest) {
    const addresses = hosts.addressesOf(name);
    if (!addresses) return original.call(this, name, ...rest);
    const found = addresses.filter(address => isIP(address) === family);
    if (found.length > 0) return found;
    const code = addresses.length === 0 ? 'ENOTFOUND' : 'ENODATA';
    const syscall = family === 4 ? 'queryA' : 'queryAaaa';
    throw Object.assign(new Error(`${syscall} ${code} ${name}`), { code, syscall, hostname: name });
  };
}

/**
 * Diverts connections to the addresses of mapped names to the TLS terminator on 127.0.0.1. Node's TCP handle is below
 * net, tls, http, agents and Happy Eyeballs, so one patch covers them all.
 */
function divertConnections(terminatorPort: number): void {
  const socket = net.connect({ host: '127.0.0.1', port: 1 }).on('error', () => undefined);
  const handle: unknown = '_handle' in socket ? socket._handle : undefined; // a socket has a handle as soon as it starts to connect
  const tcp: TcpHandle | undefined = handle && Object.getPrototypeOf(handle);
  socket.destroy();
  if (!tcp) throw new Error('This version of Node lacks the TCP handles that the local cloud needs.');
  const { connect } = tcp;
  tcp.connect = function divert(request, address, port) {
    if (!hosts.isMapped(address)) return connect.call(this, request, address, port);
    return connect.call(this, request, '127.0.0.1', terminatorPort);
  };
}

interface TcpHandle {
  connect(this: TcpHandle, request: unknown, address: string, port: number): number;
}
