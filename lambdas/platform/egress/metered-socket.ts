import type { Socket, TcpNetConnectOpts } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEvents } from '../timer.ts';
import type { ConnectionCost } from './receiver-costs.ts';
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
export function openMeteredSocket(connect: Connect, options: TcpNetConnectOpts, cost: ConnectionCost): MeteredSocket {
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
  /** Portions that were not full. */
  let drips = 0;
  /** What was read and is not handed on yet, from `handedOn` on. */
  let portion = Buffer.alloc(0);
  let handedOn = 0;
  let isReading = true;
  let isWanted = false;
  let cancelTurn: (() => void) | undefined;

  const socket = connect({ ...options, onread: { buffer: readBuffer, callback: onRead } });
  const stream = new Duplex({
    allowHalfOpen: false,
    readableHighWaterMark: portionBytes,
    read() {
      isWanted = true;
      if (!isReading) goOnLater();
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
      cancelTurn?.();
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
      if (phase === 'body') cost.answered();
      if (phase === 'idle') cost.next();
      limit = limits[phase];
      bytes = 0;
      recordsBefore = received.records();
      tickets = 0;
      drips = 0;
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
    if (length < portionBytes) drips += 1;
    handOn();
    // A portion that is not full was all that had come: Node then serves other connections first anyway.
    isReading = isWanted && !hasRest() && length < portionBytes && drips < quickDrips;
    if (!isReading && isWanted) goOnLater();
    return isReading;
  }

  function hasRest(): boolean {
    return handedOn < portion.length;
  }

  function goOnLater(): void {
    cancelTurn ??= inTurn(drips < quickDrips || hasRest() ? 0 : pauseOfDrips, () => {
      cancelTurn = undefined;
      if (hasRest()) handOn();
      if (!isWanted || stream.destroyed) return;
      if (hasRest()) return goOnLater();
      isReading = true;
      socket.resume();
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
    cost.of(() => {
      isWanted = stream.push(portion.subarray(start, handedOn));
    });
  }

  function excess(): Error | undefined {
    if (limit === limits.handshake && cost.isTooMuch()) return new ExcessError('COSTLY_RECEIVER');
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

/** What may come in each phase of a connection. */
export const limits = {
  handshake: { bytes: 128 * 1_024, records: 256 },
  /** From the handshake, or the reuse of a kept connection, to the last header. */
  headers: { bytes: 32 * 1_024, records: 256 },
  body: { bytes: Number.POSITIVE_INFINITY, records: 128 },
  idle: { bytes: 32 * 1_024, records: 16 },
} as const satisfies Record<string, Limit>;

/** Calls back after so many milliseconds, or in the next turn of the event loop. Returns what cancels that. */
function inTurn(milliseconds: number, callback: () => void): () => void {
  if (milliseconds > 0) return afterEvents(milliseconds, callback);
  const turn = setImmediate(callback);
  return function cancel() {
    clearImmediate(turn);
  };
}

/** Types of records. */
const changeCipherSpec = 20;
const handshake = 22;

const portionBytes = 4_096;

/** After so many portions of a phase that were not full there is a pause before each: what comes byte by byte gathers. */
const quickDrips = 32;

/** That pause, in milliseconds. */
const pauseOfDrips = 500;

/** The most session tickets of a phase. Servers usually send two, and a few more after their own key has changed. */
const maximumTickets = 16;

/** The most records that are handed on at once: 4 KiB hold 150 KeyUpdates, which are two to four milliseconds of work. */
const recordsAtOnce = 16;

/** What any socket reads, until it is copied: one at a time. */
const readBuffer = Buffer.allocUnsafeSlow(portionBytes);
