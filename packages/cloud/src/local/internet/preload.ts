import dns from 'node:dns';
import net, { isIP } from 'node:net';
import { makeHostMap, type NetworkSettings } from './host-map.ts';

// `node --import` loads this module before a function's bundle, so bundles contain no code for local runs and run in
// Lambda's environment. The URL of this module contains the settings.
const settings: NetworkSettings = JSON.parse(new URL(import.meta.url).searchParams.get('settings') ?? '{}');

const hosts = makeHostMap(settings);
redirectConnections(settings.terminatorPort);

// Resolves mapped names. The bundles use only `Resolver` of `node:dns/promises` to resolve names.
const resolver: Record<'resolve4' | 'resolve6', Query> = dns.promises.Resolver.prototype;
resolver.resolve4 = withHosts(resolver.resolve4, 4);
resolver.resolve6 = withHosts(resolver.resolve6, 6);

type Query = (this: dns.promises.Resolver, name: string, ...rest: never[]) => Promise<unknown>;

/** Wraps a query. For a mapped name it returns addresses or an error, as a DNS server does. */
function withHosts(original: Query, family: 4 | 6): Query {
  return async function resolveMapped(name, ...rest) {
    const addresses = hosts.addressesOf(name);
    if (!addresses) return original.call(this, name, ...rest);
    const matching = addresses.filter(address => isIP(address) === family);
    if (matching.length > 0) return matching;
    const code = addresses.length === 0 ? 'ENOTFOUND' : 'ENODATA';
    const syscall = family === 4 ? 'queryA' : 'queryAaaa';
    throw Object.assign(new Error(`${syscall} ${code} ${name}`), { code, syscall, hostname: name });
  };
}

/**
 * Connects sockets to the TLS terminator instead of the addresses of mapped names. It patches Node's TCP handle, which
 * all modules use (net, tls, http, agents, Happy Eyeballs).
 */
function redirectConnections(terminatorPort: number): void {
  const socket = net.connect({ host: '127.0.0.1', port: 1 }).on('error', () => undefined);
  const handle: unknown = '_handle' in socket ? socket._handle : undefined; // a socket has a handle as soon as it starts to connect
  const tcp: TcpHandle | undefined = handle && Object.getPrototypeOf(handle);
  socket.destroy();
  if (!tcp) throw new Error('This version of Node lacks the TCP handles that the local cloud needs.');
  const { connect } = tcp;
  tcp.connect = function redirect(request, address, port) {
    if (!hosts.isMapped(address)) return connect.call(this, request, address, port);
    return connect.call(this, request, '127.0.0.1', terminatorPort);
  };
}

interface TcpHandle {
  connect(this: TcpHandle, request: unknown, address: string, port: number): number;
}
