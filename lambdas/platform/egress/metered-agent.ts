import type { ClientRequest } from 'node:http';
import { Agent, type AgentOptions, type RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import type { ConnectionPhase } from './connection-meter.ts';
import { type Connect, type MeteredSocket, openMeteredSocket } from './metered-socket.ts';
import type { ConnectionCost, ReceiverCosts } from './receiver-costs.ts';

/** Makes an agent whose TLS connections run over metered sockets. */
export function makeMeteredAgent(options: AgentOptions, connect: Connect, costs: ReceiverCosts): Agent {
  return new MeteredAgent(options, connect, costs);
}

/** The options that a request through the metered agent has besides. */
export interface MeteredOptions {
  /** The account that the connection serves and is paid by. */
  readonly accountId: string;
}

/** Tells the meter below a TLS connection what it is at. The agent itself tells all but the body. */
export function enterPhase(socket: Socket, phase: ConnectionPhase): void {
  meters.get(socket)?.enter(phase);
}

/** Redacts what came over a TLS connection, at the account's cost: how long that takes depends on its credential. */
export function redactMetered(socket: Socket, redact: () => string): string {
  return meters.get(socket)?.cost.ofAccount(redact) ?? redact();
}

const meters = new WeakMap<Duplex, MeteredSocket & { readonly cost: ConnectionCost }>();

class MeteredAgent extends Agent {
  readonly #connect: Connect;
  readonly #costs: ReceiverCosts;

  constructor(options: AgentOptions, connect: Connect, costs: ReceiverCosts) {
    super(options);
    this.#connect = connect;
    this.#costs = costs;
  }

  /** Keys connections and TLS sessions by account too: late bytes of an answer must not settle another account's POST. */
  override getName(options: RequestOptions & MeteredOptions) {
    return `${options.accountId} ${super.getName(options)}`;
  }

  override createConnection(...[options, callback]: Parameters<Agent['createConnection']>) {
    const { host, port, servername, accountId } = options as ConnectionOptions & MeteredOptions;
    const address = { host: String(host), port: Number(port), noDelay: true };
    const cost = this.#costs.open(servername || address.host, accountId);
    const meter = openMeteredSocket(this.#connect, address, cost);
    const below = { socket: meter.stream };
    const socket = super.createConnection({ ...options, ...below }, callback);
    if (!socket) return socket;
    meters.set(socket, { ...meter, cost });
    meter.socket.once('connect', () => socket.emit('connect')); // as TLS over Node's own sockets does
    socket.once('secureConnect', () => meter.enter('headers'));
    socket.on('session', meter.countTicket);
    return socket;
  }

  override keepSocketAlive(socket: Duplex) {
    const meter = meters.get(socket);
    meter?.enter('idle');
    meter?.socket.unref();
    return super.keepSocketAlive(socket);
  }

  override reuseSocket(socket: Duplex, request: ClientRequest) {
    const meter = meters.get(socket);
    meter?.enter('headers');
    meter?.socket.ref();
    super.reuseSocket(socket, request);
  }
}
