/** Runs the TLS terminator in a worker thread. It reports its port and unreachable servers. Any message stops it. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type LookupFunction, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf } from '../errors.ts';
import { makeCertificateAuthority } from './certificate-authority.ts';
import { type HostMapSource, makeHostMap } from './host-map.ts';

/** A report from the thread. The first report contains the port. Each later report names a server that is not listening. */
export type TerminatorReport =
  | { readonly listening: { readonly port: number; readonly authorityCertificate: string } }
  | { readonly unreachable: { readonly name: string; readonly port: number } };

/** The name in the certificate for connections without SNI and for unmapped names. It matches no host. */
const unmappedName = 'unmapped.invalid';

const hosts = makeHostMap(workerData as HostMapSource);
const authority = await makeCertificateAuthority();
const unknownHostContext = await authority.contextFor(unmappedName);
const openSockets = new Set<Socket>();
/** The ports that were reported as unreachable, by name. */
const unreachablePorts = new Map<string, number>();

// One server serves all mapped hosts. The SNI of a connection contains the host name (RFC 6066 section 3).
const server = createServer({ allowHalfOpen: true, noDelay: true }, raw => {
  openSockets.add(raw);
  raw.on('close', () => openSockets.delete(raw));
  raw.on('error', () => raw.destroy());
  const secure = new TLSSocket(raw, {
    isServer: true,
    secureContext: unknownHostContext, // otherwise each connection would create a context
    ALPNProtocols: ['http/1.1'],
    SNICallback: (name, callback) => {
      if (hosts.portOf(name) === undefined) callback(null, unknownHostContext);
      else authority.contextFor(name).then(context => callback(null, context), callback);
    },
  });
  secure.on('error', () => raw.destroy());
  secure.on('secure', () => {
    const name = 'servername' in secure ? String(secure.servername) : '';
    const port = hosts.portOf(name);
    if (port === undefined) raw.resetAndDestroy();
    else join(secure, raw, name, port);
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
parentPort?.once('message', () => {
  for (const socket of openSockets) socket.destroy();
  server.close();
});
report({
  listening: { port: (server.address() as AddressInfo).port, authorityCertificate: authority.certificate },
});

/**
 * Connects a TLS socket to a plain HTTP server. It forwards bytes, half-closes and resets unchanged, because a test server may
 * hang, respond slowly, send garbage or reset the connection.
 */
function join(secure: TLSSocket, raw: Socket, name: string, port: number): void {
  const plain = connect({ host: 'localhost', lookup: lookUpLoopback, port, allowHalfOpen: true, noDelay: true });
  plain.on('connect', () => unreachablePorts.delete(name));
  plain.on('error', error => {
    if (codeOf(error) === 'ECONNREFUSED' && unreachablePorts.get(name) !== port) {
      unreachablePorts.set(name, port);
      report({ unreachable: { name, port } }); // only once, until a connection succeeds
    }
    raw.resetAndDestroy();
  });
  secure.on('error', () => plain.resetAndDestroy());
  raw.on('error', () => plain.resetAndDestroy());
  plain.on('close', () => secure.destroy());
  secure.on('close', () => plain.destroy());
  secure.pipe(plain);
  plain.pipe(secure);
}

function report(message: TerminatorReport): void {
  parentPort?.postMessage(message);
}

/** Returns the addresses of `localhost`. Node tries the second address if the first one refuses the connection. */
function lookUpLoopback(...[, , callback]: Parameters<LookupFunction>): void {
  callback(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);
}
