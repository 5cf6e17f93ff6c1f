import { once } from 'node:events';
import { createServer } from 'node:net';
import { listen } from '../../tools/support/listen.ts';

/** Returns a port of 127.0.0.1 that is currently free. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await once(server.close(), 'close');
  return port;
}
