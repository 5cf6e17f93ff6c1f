import { Agent, type AgentOptions, type RequestOptions } from 'node:https';
import type { Socket, TcpNetConnectOpts } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

/** Opens a TCP connection, as `net.connect` does. */
export type Connect = (options: TcpNetConnectOpts) => Socket;

/** The options of a request over a `BudgetedAgent`, besides those of `https.request`. */
export interface BudgetedOptions {
  /** The account that the connection serves. */
  readonly accountId: string;
}

/**
 * The bytes that a receiver may send for an attempt: a handshake of up to 30 KiB, 16 KiB of headers, 1 KiB of the body. A
 * kept connection has as many again from the end of one attempt to the end of the next.
 */
export const byteBudget = 48 * 1_024;

/** The error code of a connection whose receiver sent more. */
export const tooManyBytes = 'TOO_MANY_BYTES';

/** An agent whose TLS connections fail beyond the byte budget. */
export class BudgetedAgent extends Agent {
  readonly #connect: Connect;

  constructor(options: AgentOptions, connect: Connect) {
    super(options);
    this.#connect = connect;
  }

  /** Keeps connections by account too: late bytes of an answer must not settle another account's POST. */
  override getName(options: RequestOptions & BudgetedOptions) {
    return `${options.accountId} ${super.getName(options)}`;
  }

  /** Connects without `https.Agent`'s cache of TLS sessions: with it a session ticket costs three times as much. */
  override createConnection(options: ConnectionOptions) {
    const { host, port } = options;
    const stream = new BudgetedStream(this.#connect, { host: String(host), port: Number(port), noDelay: true });
    const socket = connectTls({ ...options, socket: stream });
    stream.socket.once('connect', () => socket.emit('connect')); // as TLS over Node's own sockets does
    return socket.on('free', stream.renew);
  }
}

/**
 * The stream between TCP and TLS. TLS messages without data (KeyUpdate, session tickets) raise no event of Node's, and neither
 * Node nor OpenSSL limits them: so the bytes are counted below TLS. 4 KiB are read in a turn of the event loop, since Node
 * would read up to 2 MiB of one connection before other connections.
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

  /** Returns `false` so that Node reads no more until `_read` asks for it. */
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

/** The buffer that all sockets read into. Only one uses it at a time, until the bytes are copied. */
const readBuffer = Buffer.allocUnsafeSlow(portionBytes);
