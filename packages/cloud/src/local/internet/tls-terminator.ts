import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type LookupFunction, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { codeOf } from '../errors.ts';
import type { LoopbackServer } from '../loopback-server.ts';
import type { CertificateAuthority } from './certificate-authority.ts';
import type { HostMap } from './host-map.ts';

/** Called when nothing listens behind a mapped name: once, until something does. */
export type OnUnreachable = (name: string, port: number) => void;

/** Starts the TLS side of every mapped host, on one free port of 127.0.0.1. The SNI of a connection tells its host (RFC 6066 section 3). */
export async function startTlsTerminator(
  hosts: HostMap,
  authority: CertificateAuthority,
  onUnreachable: OnUnreachable,
): Promise<LoopbackServer> {
  const unknown = await authority.contextFor(unmapped);
  const open = new Set<Socket>();
  const absent = new Map<string, number>();

  const note = (name: string, port: number, isThere: boolean): void => {
    if (isThere) absent.delete(name);
    else if (absent.get(name) !== port) {
      absent.set(name, port);
      onUnreachable(name, port);
    }
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true }, raw => {
    open.add(raw);
    raw.on('close', () => open.delete(raw));
    raw.on('error', () => raw.destroy());
    const secure = new TLSSocket(raw, {
      isServer: true,
      secureContext: unknown, // without it, each connection would create one
      ALPNProtocols: ['http/1.1'],
      SNICallback: (name, answer) => {
        if (hosts.portOf(name) === undefined) return answer(null, unknown);
        const give = () => {
          authority.contextFor(name).then(context => answer(null, context), answer);
        };
        const { handshakeAfter } = hosts.delaysOf(name);
        if (handshakeAfter === 0) return give();
        setTimeout(give, handshakeAfter).unref(); // the connection may have ended by then
      },
    });
    secure.on('error', () => raw.destroy());
    secure.on('secure', () => {
      const name = 'servername' in secure ? String(secure.servername) : '';
      const port = hosts.portOf(name);
      if (port === undefined) raw.resetAndDestroy();
      else join(secure, raw, port, isThere => note(name, port, isThere));
    });
  });

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The name in the certificate for connections without SNI or to a name that is not mapped. It matches no host. */
const unmapped = 'unmapped.invalid';

/** Receivers on `localhost` listen at one of these. Node tries the second if the first refuses. */
const lookUpLoopback: LookupFunction = (_name, _options, answer) =>
  answer(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);

/**
 * Connects a TLS socket and a plain one, byte for byte. Half-closes and resets are passed on, so that the client sees exactly
 * what a test server does: hang, trickle, send garbage or reset the connection.
 */
function join(secure: TLSSocket, raw: Socket, port: number, onConnect: (isThere: boolean) => void): void {
  const plain = connect({ host: 'localhost', lookup: lookUpLoopback, port, allowHalfOpen: true, noDelay: true });
  plain.on('connect', () => onConnect(true));
  plain.on('error', error => {
    if (codeOf(error) === 'ECONNREFUSED') onConnect(false);
    raw.resetAndDestroy();
  });
  secure.on('error', () => plain.resetAndDestroy());
  raw.on('error', () => plain.resetAndDestroy());
  plain.on('close', () => secure.destroy());
  secure.on('close', () => plain.destroy());
  secure.pipe(plain);
  plain.pipe(secure);
}
