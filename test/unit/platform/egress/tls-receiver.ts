import { once } from 'node:events';
import { Agent, type AgentOptions } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { generate } from 'selfsigned';

/** A request as it came over the wire. */
interface ReceivedRequest {
  readonly text: string;
  /** The name the client asked for (SNI), `false` without one. */
  readonly serverName: string | false | undefined;
  /** Which connection it came on, counted from 1. */
  readonly connection: number;
}

/** Plays the receiver: writes to, or breaks, the connection of a complete request. */
export type Play = (socket: TLSSocket, request: ReceivedRequest) => void;

/** A receiver of this test alone: TLS for receiver.example.com and 93.184.216.34, with a certificate of its own. */
export interface TlsReceiver {
  readonly port: number;
  readonly certificate: string;
  readonly requests: ReceivedRequest[];
  connections(): number;
  stop(): Promise<void>;
}

const isComplete = (text: string): boolean => {
  const end = text.indexOf('\r\n\r\n');
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  return end >= 0 && Buffer.byteLength(text.slice(end + 4)) >= length;
};

/** Starts a receiver on a free port of 127.0.0.1; `play` is called once per complete request. */
export const startTlsReceiver = async (play: Play): Promise<TlsReceiver> => {
  const altNames = [
    { type: 2, value: 'receiver.example.com' },
    { type: 7, ip: '93.184.216.34' },
  ] as const;
  const pair = await generate([{ name: 'commonName', value: 'receiver.example.com' }], {
    keyType: 'ec',
    curve: 'P-256',
    extensions: [{ name: 'subjectAltName', altNames: [...altNames] }],
  });
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<TLSSocket>();
  let connections = 0;
  const server = createServer({ key: pair.private, cert: pair.cert }, socket => {
    const connection = ++connections;
    let text = '';
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    certificate: pair.cert,
    requests,
    connections: () => connections,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

/** Where the client meant to connect. */
interface MeantConnection {
  readonly host: string | undefined;
  readonly port: unknown;
  readonly serverName: string | undefined;
}

/**
 * Makes agents that connect to the receiver, wherever they are told to, and write down where that was. All else about
 * them is the real thing: pooling by what they were told, TLS, the certificate's name.
 */
export const loopbackAgents = (port: number, certificate?: string) => {
  const meant: MeantConnection[] = [];
  class LoopbackAgent extends Agent {
    override createConnection(...[options, callback]: Parameters<Agent['createConnection']>) {
      const tls = options as typeof options & { host?: string; servername?: string };
      meant.push({ host: tls.host, port: options.port, serverName: tls.servername });
      const landing = { socket: connect(port, '127.0.0.1'), ...(certificate ? { ca: certificate } : {}) };
      return super.createConnection({ ...options, ...landing }, callback);
    }
  }
  return { meant, makeAgent: (options: AgentOptions): Agent => new LoopbackAgent(options) };
};
