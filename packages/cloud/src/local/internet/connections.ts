import net from 'node:net';
import type { HostMap } from './host-map.ts';

/**
 * Diverts connections to the addresses of mapped names to the TLS terminator on 127.0.0.1. The program sees them as
 * connections to the address itself. Other connections are not diverted.
 */
export function divertConnections(hosts: HostMap, terminatorPort: number): void {
  const tcp = tcpPrototype();
  const { connect, connect6, getpeername } = tcp;
  const peers = new WeakMap<object, object>();

  const divert = (original: TcpHandle['connect']): TcpHandle['connect'] =>
    function (this: TcpHandle, request, address, port) {
      if (hosts.nameAt(address) === undefined) return original.call(this, request, address, port);
      if (!isServed(port)) return connect.call(this, request, '127.0.0.1', 1); // refused, as a closed port is
      peers.set(this, { address, port, family: 'IPv4' });
      return connect.call(this, request, '127.0.0.1', terminatorPort);
    };

  tcp.connect = divert(connect);
  tcp.connect6 = divert(connect6);
  tcp.getpeername = function (this: TcpHandle, out) {
    const peer = peers.get(this);
    if (!peer) return getpeername.call(this, out);
    Object.assign(out, peer);
    return 0;
  };
}

/** Finds the prototype of TCP handles; a socket has one as soon as it begins to connect. */
function tcpPrototype(): TcpHandle {
  const socket = net.connect({ host: '127.0.0.1', port: 1 }).on('error', () => undefined);
  const handle: unknown = '_handle' in socket ? socket._handle : undefined;
  const prototype: unknown = handle && Object.getPrototypeOf(handle);
  socket.destroy();
  if (!prototype) throw new Error('This version of Node has no TCP handles where the local cloud expects them.');
  return prototype as TcpHandle;
}

/** Node's TCP handle, the one place below net, tls, http, agents and Happy Eyeballs. */
interface TcpHandle {
  connect(request: unknown, address: string, port: number): number;
  connect6(request: unknown, address: string, port: number): number;
  getpeername(out: object): number;
}

/** The ports that the URL policy lets through; a mapped host listens on all of them. */
function isServed(port: number): boolean {
  return port === 443 || port >= 1024;
}
