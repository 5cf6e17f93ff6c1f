import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { portError } from './errors.ts';

/** A server on 127.0.0.1. */
export interface LoopbackServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Starts an HTTP server on 127.0.0.1. Port 0 selects any free port. The server never closes idle connections, because
 * requests that clients send at the same moment would fail.
 *
 * @throws {StartError} if the port is not available
 */
export async function listenOnLoopback(server: Server, port = 0): Promise<LoopbackServer> {
  server.keepAliveTimeout = 0;
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    throw portError(error, port);
  }
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
