import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { generate } from 'selfsigned';
import type { Network } from '../../../../lambdas/platform/egress/connections.ts';
import { listen } from '../../../../tools/support/listen.ts';

interface ReceivedRequest {
  readonly text: string;
  /** The name that the client requested (SNI), or `false` if none. */
  readonly serverName: string | false | undefined;
  /** The number of the request's connection, starting at 1. */
  readonly connection: number;
}

/** Responds to a complete request. Writes to its connection or breaks it. */
export type Play = (socket: TLSSocket, request: ReceivedRequest) => void;

const isComplete = (text: string): boolean => {
  const end = text.indexOf('\r\n\r\n');
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  return end >= 0 && Buffer.byteLength(text.slice(end + 4)) >= length;
};

export interface Names {
  readonly commonName?: string;
  readonly dns?: readonly string[];
  readonly ip?: readonly string[];
}

const receiverNames: Names = {
  commonName: 'receiver.example.com',
  dns: ['receiver.example.com'],
  ip: ['93.184.216.34'],
};

/** Creates a key and a self-signed certificate, which expires after `expiresIn` milliseconds, by default a year. */
export const certify = (
  { commonName = '', dns = [], ip = [] }: Names = receiverNames,
  isRsa = false,
  expiresIn?: number,
) => {
  const altNames = [
    ...dns.map(value => ({ type: 2 as const, value })),
    ...ip.map(address => ({ type: 7 as const, ip: address })),
  ];
  return generate([{ name: 'commonName', value: commonName }], {
    ...(isRsa ? { keyType: 'rsa' as const, keySize: 2048 } : { keyType: 'ec' as const, curve: 'P-256' as const }),
    // OpenSSL's clock lags by some milliseconds, so a certificate created at the start of a second would not be valid yet.
    notBeforeDate: new Date(Date.now() + (expiresIn ?? 0) - 60_000),
    ...(expiresIn !== undefined && { notAfterDate: new Date(Date.now() + expiresIn) }),
    // The library adds its own name if there is no extension.
    extensions: altNames.length > 0 ? [{ name: 'subjectAltName', altNames }] : [{ name: 'basicConstraints', cA: true }],
  });
};

/** A receiver for one test, with its own certificate. */
export type TlsReceiver = Awaited<ReturnType<typeof startTlsReceiver>>;

/** Starts a receiver on a free port of 127.0.0.1. Calls `play` once per complete request. */
export const startTlsReceiver = async (play: Play, names = receiverNames) => {
  const pair = await certify(names);
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<TLSSocket>();
  let connections = 0;
  let closed = () => {};
  const server = createServer({ key: pair.private, cert: pair.cert }, socket => {
    const connection = ++connections;
    let text = '';
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      closed();
    });
    socket.on('data', chunk => {
      text += chunk.toString('latin1');
      if (!isComplete(text)) return;
      const request = { text, serverName: (socket as { servername?: string | false }).servername, connection };
      text = '';
      requests.push(request);
      play(socket, request);
    });
  });
  server.on('tlsClientError', () => {});
  const port = await listen(server);
  return {
    port,
    certificate: pair.cert,
    requests,
    connections: () => connections,
    onClose: (act: () => void) => {
      closed = act;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

/** The result of a connection. It never opens (`silent`) or fails with this error code. */
type Fate = 'silent' | `E${string}`;

const makeFailingSocket = (fate: Fate): Socket => {
  const socket = Object.assign(new Socket(), { connecting: true });
  if (fate !== 'silent') process.nextTick(() => socket.destroy(Object.assign(new Error(fate), { code: fate })));
  return socket;
};

/** Creates a network that connects every address to the receiver and records the address. `fates` lists the exceptions. */
export const loopbackNetwork = (
  port: number,
  certificate?: string,
  fates: ReadonlyMap<string, Fate> = new Map<string, Fate>(),
) => {
  const targets: { readonly host: string | undefined; readonly port: number }[] = [];
  const sockets: Socket[] = [];
  const network: Network = {
    connect: options => {
      targets.push({ host: options.host, port: options.port });
      const fate = fates.get(options.host ?? '');
      const socket = fate ? makeFailingSocket(fate) : connect({ ...options, host: '127.0.0.1', port });
      sockets.push(socket);
      return socket;
    },
    ...(certificate !== undefined && { ca: certificate }),
  };
  return { targets, sockets, network };
};
