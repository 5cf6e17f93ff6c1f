import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { codeOf } from '../fault.ts';
import type { AddressBook } from './address-book.ts';
import type { CertificateAuthority } from './certificates.ts';

/** The TLS side of every mapped host, on one port of 127.0.0.1. */
export interface TlsTerminator {
  readonly port: number;
  stop(): Promise<void>;
}

/** Hears that nothing listens behind a mapped name: once, until something does. */
export type OnAbsence = (name: string, port: number) => void;

/** Starts the terminator on a free port. Which host a connection is for is told by its SNI (RFC 6066 section 3). */
export async function startTlsTerminator(
  book: AddressBook,
  authority: CertificateAuthority,
  onAbsence: OnAbsence,
): Promise<TlsTerminator> {
  const strangers = await authority.contextFor(nobody);
  const open = new Set<Socket>();
  const absent = new Map<string, number>();

  const note = (name: string, port: number, isThere: boolean): void => {
    if (isThere) absent.delete(name);
    else if (absent.get(name) !== port) {
      absent.set(name, port);
      onAbsence(name, port);
    }
  };

  const server = createServer({ allowHalfOpen: true, noDelay: true }, raw => {
    open.add(raw);
    raw.on('close', () => open.delete(raw));
    raw.on('error', () => raw.destroy());
    const secure = new TLSSocket(raw, {
      isServer: true,
      secureContext: strangers, // without one, each connection would make its own
      ALPNProtocols: ['http/1.1'],
      SNICallback: (name, answer) => {
        if (book.portOf(name) === undefined) return answer(null, strangers);
        authority.contextFor(name).then(
          context => answer(null, context),
          error => answer(error),
        );
      },
    });
    secure.on('error', () => raw.destroy());
    secure.on('secure', () => {
      const name = 'servername' in secure ? String(secure.servername) : '';
      const port = book.portOf(name);
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

/** The name in the certificate for clients that name no host or one that is not mapped: it fits nobody. */
const nobody = 'unmapped.invalid';

/**
 * Joins a TLS connection and a plain one, byte for byte: half-closed and reset ends arrive as such on the other side,
 * so that a test server may hang, trickle, talk nonsense or tear the connection and the client sees just that.
 */
function join(secure: TLSSocket, raw: Socket, port: number, onConnect: (isThere: boolean) => void): void {
  const plain = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true });
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
