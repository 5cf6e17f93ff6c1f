import type { Socket, TcpNetConnectOpts } from 'node:net';
import { Duplex } from 'node:stream';
import type { HandshakeCost } from './handshake-costs.ts';
import { makeRecordCounter } from './record-counter.ts';

/** Begins a TCP connection, as `net.connect` does. */
export type Connect = (options: TcpNetConnectOpts) => Socket;

/** What a connection is at: each has limits of its own. */
export type ConnectionPhase = keyof typeof limits;

/** A TCP connection whose incoming data is counted and cut into portions before TLS sees it. */
export interface MeteredSocket {
  /** The connection itself: for its events, not for its data. */
  readonly socket: Socket;
  /** What TLS reads and writes. */
  readonly stream: Duplex;
  /** Counts anew, by the limits of this phase. */
  enter(phase: ConnectionPhase): void;
  /** Counts a session ticket: hundreds fit in one record. */
  countTicket(): void;
}

/**
 * Opens a TCP connection under a meter. TLS records that carry no data (KeyUpdate, session tickets, empty records) cost us
 * more than the receiver, raise no event of Node's, and neither Node nor OpenSSL limits them: so bytes and records are counted
 * below TLS, idle connections' too, and beyond a limit the connection ends with an error. Data is handed on in small
 * portions, and other events of the process take their turn after each: otherwise Node would read up to 2 MiB of one
 * connection in a row.
 */
export function openMeteredSocket(
  connect: Connect,
  options: TcpNetConnectOpts,
  handshakeCost: HandshakeCost,
): MeteredSocket {
  const received = makeRecordCounter();
  let handshakesSinceCipher = Number.NEGATIVE_INFINITY;
  const sent = makeRecordCounter(type => {
    if (type === changeCipherSpec) handshakesSinceCipher = 0;
    if (type === handshake) handshakesSinceCipher += 1;
  });
  let limit: Limit = limits.handshake;
  let bytes = 0;
  let recordsBefore = 0;
  let tickets = 0;
  /** What was read and is not handed on yet, from `handedOn` on. */
  let portion = Buffer.alloc(0);
  let handedOn = 0;
  let isWanted = false;
  let turn: NodeJS.Immediate | undefined;

  const socket = connect({ ...options, onread: { buffer: readBuffer, callback: onRead } });
  const stream = new Duplex({
    allowHalfOpen: false,
    readableHighWaterMark: portionBytes,
    read() {
      isWanted = true;
      if (hasRest()) handOnLater();
      else socket.resume();
    },
    write(chunk, _encoding, callback) {
      sent.count(chunk);
      if (isRenegotiating()) callback(new ExcessError('RENEGOTIATION'));
      else socket.write(chunk, callback);
    },
    final(callback) {
      socket.end(callback);
    },
    destroy(error, callback) {
      clearImmediate(turn);
      socket.destroy();
      callback(error);
    },
  });
  socket.on('error', error => stream.destroy(error));
  socket.on('end', () => stream.push(null));
  socket.on('close', () => stream.destroy());

  return {
    socket,
    stream,
    enter(phase) {
      if (limit === limits.handshake) handshakeCost.succeeded();
      limit = limits[phase];
      bytes = 0;
      recordsBefore = received.records();
      tickets = 0;
    },
    countTicket() {
      tickets += 1;
      if (tickets > maximumTickets) stream.destroy(new ExcessError('TOO_MANY_TICKETS'));
    },
  };

  /**
   * Returns whether TLS answers a request to renegotiate (TLS 1.2): then it sends a second handshake record after its change
   * of ciphers. OpenSSL's own refusal is an alert for each request, of which a receiver packs thousands in one record.
   */
  function isRenegotiating(): boolean {
    return handshakesSinceCipher > 1;
  }

  /** Returns whether to read on at once. The buffer is every connection's. */
  function onRead(length: number): boolean {
    portion = Buffer.from(readBuffer.subarray(0, length));
    handedOn = 0;
    handOn();
    // A portion that is not full was all that had come: Node then serves other connections first anyway.
    const goesOn = isWanted && !hasRest() && length < portionBytes;
    if (!goesOn && isWanted) handOnLater();
    return goesOn;
  }

  function hasRest(): boolean {
    return handedOn < portion.length;
  }

  function handOnLater(): void {
    turn ??= setImmediate(() => {
      turn = undefined;
      if (hasRest()) handOn();
      if (!isWanted || stream.destroyed) return;
      if (hasRest()) handOnLater();
      else socket.resume();
    });
  }

  function handOn(): void {
    const start = handedOn;
    handedOn = received.count(portion, start, recordsAtOnce);
    bytes += handedOn - start;
    const error = excess();
    if (error) {
      stream.destroy(error);
      return;
    }
    const data = portion.subarray(start, handedOn);
    if (limit === limits.handshake) handshakeCost.of(() => push(data));
    else push(data);
  }

  function push(data: Buffer): void {
    isWanted = stream.push(data);
  }

  function excess(): Error | undefined {
    if (limit === limits.handshake && handshakeCost.isTooMuch()) return new ExcessError('COSTLY_HANDSHAKES');
    if (bytes > limit.bytes) return new ExcessError('TOO_MANY_BYTES');
    if (received.records() - recordsBefore > limit.records) return new ExcessError('TOO_MANY_RECORDS');
    return undefined;
  }
}

/** A receiver sent more than any needs to. */
class ExcessError extends Error {
  override readonly name = 'ExcessError';
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

interface Limit {
  readonly bytes: number;
  readonly records: number;
}

const limits = {
  handshake: { bytes: 128 * 1_024, records: 256 },
  /** From the handshake, or the reuse of a kept connection, to the last header. */
  headers: { bytes: 32 * 1_024, records: 256 },
  body: { bytes: Number.POSITIVE_INFINITY, records: 128 },
  idle: { bytes: 32 * 1_024, records: 16 },
} as const satisfies Record<string, Limit>;

/** Types of records. */
const changeCipherSpec = 20;
const handshake = 22;

const portionBytes = 4_096;

/** The most session tickets of a phase. Servers usually send two, and a few more after their own key has changed. */
const maximumTickets = 16;

/** The most records that are handed on at once: 4 KiB hold 150 KeyUpdates, which are two to four milliseconds of work. */
const recordsAtOnce = 16;

/** What any socket reads, until it is copied: one at a time. */
const readBuffer = Buffer.allocUnsafeSlow(portionBytes);
