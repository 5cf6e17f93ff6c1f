import type { Socket, TcpNetConnectOpts } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEvents } from '../timer.ts';
import { type ConnectionPhase, makeConnectionMeter } from './connection-meter.ts';
import type { ConnectionCost } from './receiver-costs.ts';

/** Begins a TCP connection, as `net.connect` does. */
export type Connect = (options: TcpNetConnectOpts) => Socket;

/** A TCP connection whose incoming data is counted and cut into portions before TLS sees it. */
export interface MeteredSocket {
  /** The connection itself: for its events, not for its data. */
  readonly socket: Socket;
  /** The stream that TLS reads and writes. */
  readonly stream: Duplex;
  /** Counts anew, by the limits of this phase. */
  enter(phase: ConnectionPhase): void;
  /** Counts a session ticket. */
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
  const meter = makeConnectionMeter(cost);
  /** The bytes that were read. They are not handed on yet from `handedOn` on. */
  let portion: Uint8Array = nothing;
  let handedOn = 0;
  /** Portions of this phase that were not full. */
  let drips = 0;
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
      if (isWithinLimits(() => meter.countSent(chunk))) socket.write(chunk, callback);
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
      meter.enter(phase);
      drips = 0;
    },
    countTicket() {
      isWithinLimits(meter.countTicket);
    },
  };

  /** Counts, and ends the connection where that is too much. */
  function isWithinLimits(count: () => void): boolean {
    try {
      count();
    } catch (error) {
      stream.destroy(error as Error);
    }
    return !stream.destroyed;
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
    const count = () => {
      handedOn = meter.countReceived(portion, start);
    };
    if (!isWithinLimits(count)) return;
    const data = portion.subarray(start, handedOn);
    if (!hasRest()) portion = nothing; // an idle connection keeps none
    cost.of(() => {
      isWanted = stream.push(data);
    });
  }
}

/** Calls back after this many milliseconds, or in the next turn of the event loop. Returns the function that cancels that. */
function inTurn(milliseconds: number, callback: () => void): () => void {
  if (milliseconds > 0) return afterEvents(milliseconds, callback);
  const turn = setImmediate(callback);
  return function cancel() {
    clearImmediate(turn);
  };
}

const portionBytes = 4_096;

/** After this many portions of a phase that were not full, there is a pause before each, so that single bytes gather. */
const quickDrips = 32;

/** That pause, in milliseconds. */
const pauseOfDrips = 500;

const nothing = new Uint8Array();

/** The buffer that all sockets read into. Only one uses it at a time, until the bytes are copied. */
const readBuffer = Buffer.allocUnsafeSlow(portionBytes);
