import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { portError } from './errors.ts';

/** The place where a server listens on 127.0.0.1. */
export interface LoopbackServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Lets an HTTP server listen on 127.0.0.1; port 0 takes any free one. Idle connections stay open as long as the client
 * wants, because a connection closed between two requests would look like a failure of the service.
 *
 * @throws {StartError} when the port cannot be had.
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
