import { Agent, type AgentOptions, type RequestOptions } from 'node:https';
import type { Socket, TcpNetConnectOpts } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

/** Opens a TCP connection, as `net.connect` does. */
export type Connect = (options: TcpNetConnectOpts) => Socket;

/** The options of a request through a `BudgetedAgent`, in addition to the options of `https.request`. */
export interface BudgetedOptions {
  /** The account that the connection serves. */
  readonly accountId: string;
}

/**
 * The maximum number of bytes that a receiver may send per attempt. The budget covers a handshake of up to 30 KiB, 16 KiB of headers and
 * 1 KiB of body. On a reused connection, the budget restarts after each attempt.
 */
export const byteBudget = 48 * 1_024;

/** The error code of a connection that exceeded the byte budget. */
export const tooManyBytes = 'TOO_MANY_BYTES';

/** An agent for TLS connections that fail when they exceed the byte budget. */
export class BudgetedAgent extends Agent {
  readonly #connect: Connect;

  constructor(options: AgentOptions, connect: Connect) {
    super(options);
    this.#connect = connect;
  }

  /** Separates connections by account, so delayed bytes of a response cannot complete the POST of another account. */
  override getName(options: RequestOptions & BudgetedOptions) {
    return `${options.accountId} ${super.getName(options)}`;
  }

  /** Connects without the TLS session cache of `https.Agent`, which triples the cost of a session ticket. */
  override createConnection(options: ConnectionOptions) {
    const { host, port } = options;
    const stream = new BudgetedStream(this.#connect, { host: String(host), port: Number(port), noDelay: true });
    const socket = connectTls({ ...options, socket: stream });
    stream.socket.once('connect', () => socket.emit('connect')); // as with TLS over a plain socket
    return socket.on('free', stream.renew);
  }
}

/**
 * The stream between TCP and TLS. It counts bytes below TLS, because Node.js and OpenSSL neither report nor limit TLS messages without data
 * (KeyUpdate, session tickets). It reads 4 KiB per turn of the event loop. Node.js would read up to 2 MiB from one connection before it
 * reads from others.
 */
class BudgetedStream extends Duplex {
  readonly socket: Socket;
  #left = byteBudget;

  constructor(connect: Connect, options: TcpNetConnectOpts) {
    super({ allowHalfOpen: false, readableHighWaterMark: portionBytes });
    this.socket = connect({ ...options, onread: { buffer: readBuffer, callback: length => this.#receive(length) } });
    this.socket.on('error', error => this.destroy(error));
    this.socket.on('end', () => this.push(null));
    this.socket.on('close', () => this.destroy());
  }

  readonly renew = () => {
    this.#left = byteBudget;
  };

  /** Returns `false`, so Node.js pauses reading until `_read` is called. */
  #receive(length: number): false {
    this.#left -= length;
    if (this.#left >= 0) this.push(Buffer.from(readBuffer.subarray(0, length)));
    else this.destroy(Object.assign(new Error('The receiver sent too many bytes.'), { code: tooManyBytes }));
    return false;
  }

  override _read() {
    setImmediate(() => this.socket.resume());
  }

  override _write(chunk: Buffer, _encoding: string, callback: () => void) {
    this.socket.write(chunk, callback);
  }

  override _final(callback: () => void) {
    this.socket.end(callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void) {
    this.socket.destroy();
    callback(error);
  }
}

const portionBytes = 4_096;

/** The buffer into which all sockets read. Each socket copies its bytes before another socket can read. */
const readBuffer = Buffer.allocUnsafeSlow(portionBytes);
