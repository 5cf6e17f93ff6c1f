import { constants } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { listen } from './listen.ts';
import { makeTls12Writer, makeTls13Writer, type RecordWriter } from './tls-records.ts';

/** A connection of a hostile receiver. After a regular handshake, the receiver writes all records itself. */
export interface HostileConnection {
  readonly records: RecordWriter;
  /** Writes bytes. Resolves when the kernel has accepted them or the connection has closed. */
  write(bytes: Buffer): Promise<void>;
  isOpen(): boolean;
  /** Resets the connection. */
  reset(): void;
}

/** The reaction of a receiver to a request for a path. */
export type Act = (connection: HostileConnection, path: string) => Promise<void> | void;

/** The protocol version and the certificate of a receiver. */
export interface HostileIdentity {
  readonly key: string;
  readonly certificate: string;
  readonly version?: 'TLSv1.2' | 'TLSv1.3';
  /** The maximum content of a plaintext handshake record in bytes. Larger records are split. */
  readonly fragment?: number;
}

/** A receiver on a free port of 127.0.0.1. */
export interface HostileReceiver {
  readonly port: number;
  /** Resolves when a connection has closed. */
  readonly closed: Promise<void>;
  stop(): void;
}

/**
 * Starts a receiver that can send any TLS record after the handshake. Node performs the handshake over a stream and
 * reports the keys in its key log event.
 */
export async function startHostileReceiver(act: Act, identity: HostileIdentity): Promise<HostileReceiver> {
  const { key, certificate: cert, version = 'TLSv1.3', fragment = Number.POSITIVE_INFINITY } = identity;
  const ciphers = version === 'TLSv1.3' ? 'TLS_AES_128_GCM_SHA256' : 'ECDHE-ECDSA-AES128-GCM-SHA256';
  const secureOptions = constants.SSL_OP_NO_TICKET; // requires a full handshake for each connection
  const versions = { minVersion: version, maxVersion: version };
  const secureContext = createSecureContext({ key, cert, ciphers, secureOptions, ...versions });
  const sockets = new Set<Socket>();
  const closed = Promise.withResolvers<void>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        sockets.delete(socket);
        closed.resolve();
      });
    performHandshake(socket.setNoDelay(), secureContext, act, fragment);
  });
  return {
    port: await listen(server),
    closed: closed.promise,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function performHandshake(socket: Socket, secureContext: SecureContext, act: Act, fragment: number): void {
  let firstFlight = Buffer.alloc(0);
  /** True after the client's Finished in TLS 1.3. Node's session tickets are then discarded, because they would use sequence numbers. */
  let isDiscarding = false;
  const stream = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, callback) {
      if (isDiscarding) return callback();
      firstFlight = Buffer.concat([firstFlight, chunk]);
      socket.write(fragmented(chunk, fragment), callback);
    },
  });
  const tls = new TLSSocket(stream, { isServer: true, secureContext });
  socket.on('data', chunk => {
    isDiscarding ||= firstFlight.length > 0 && tls.getProtocol() === 'TLSv1.3';
    stream.push(chunk);
  });
  socket.on('close', () => stream.destroy());

  let records: RecordWriter | undefined;
  tls.on('keylog', line => {
    const [label, random = '', secret = ''] = line.toString('latin1').trim().split(' ');
    if (label === 'SERVER_TRAFFIC_SECRET_0') records = makeTls13Writer(Buffer.from(secret, 'hex'));
    const serverRandom = firstFlight.subarray(serverRandomAt, serverRandomAt + 32);
    if (label === 'CLIENT_RANDOM')
      records = makeTls12Writer(Buffer.from(secret, 'hex'), Buffer.from(random, 'hex'), serverRandom);
  });
  tls.on('error', () => socket.destroy());

  let text = '';
  tls.on('data', chunk => {
    text += chunk;
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    const end = text.indexOf('\r\n\r\n');
    if (end < 0 || text.length < end + 4 + length || !records) return;
    const path = text.split(' ')[1] ?? '/';
    text = '';
    void act({ records, write, isOpen: () => !socket.destroyed, reset: () => void socket.resetAndDestroy() }, path);
  });

  function write(bytes: Buffer): Promise<void> {
    return new Promise(resolve => {
      socket.write(bytes, () => resolve());
    });
  }
}

/** Splits the plaintext handshake records at the start of a chunk. */
function fragmented(chunk: Buffer, maxLength: number): Buffer {
  if (chunk[0] !== handshakeType || maxLength === Number.POSITIVE_INFINITY) return chunk;
  const end = headerLength + chunk.readUInt16BE(3);
  const content = chunk.subarray(headerLength, end);
  const pieces: Buffer[] = [];
  for (let at = 0; at < content.length; at += maxLength) {
    const piece = content.subarray(at, at + maxLength);
    pieces.push(Buffer.of(handshakeType, 3, 3, 0, piece.length), piece);
  }
  return Buffer.concat([...pieces, fragmented(chunk.subarray(end), maxLength)]);
}

const handshakeType = 22;
const headerLength = 5;

/** The position of the random value in a ServerHello, after the record header (5), the message header (4) and the version (2). */
const serverRandomAt = 11;
