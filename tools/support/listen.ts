import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';

/** Starts a server on a free port of 127.0.0.1. Returns the port. */
export async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  return address.port;
}

/** Closes a server and its connections. Resolves when all have closed. */
export async function closeNow(server: HttpServer): Promise<void> {
  server.close().closeAllConnections();
  await once(server, 'close');
}
