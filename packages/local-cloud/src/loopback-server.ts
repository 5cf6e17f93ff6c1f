import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { codeOf, StartError } from './errors.ts';

/** Where a server listens on 127.0.0.1. */
export interface LoopbackServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Turns the error of a port that cannot be used into one that says what to do. Other errors are returned unchanged. */
export function portError(error: unknown, port: number): unknown {
  if (codeOf(error) === 'EADDRINUSE') {
    return new StartError(
      `Port ${port} is in use: free it, or choose others with --port N (a run takes N to N+5; 0 takes any free ones).`,
    );
  }
  if (codeOf(error) === 'EACCES')
    return new StartError(`The system does not allow you to use port ${port}: choose another --port, from 1024 up.`);
  return error;
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
