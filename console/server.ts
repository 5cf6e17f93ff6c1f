import { once } from 'node:events';
import { createAdaptorServer } from '@hono/node-server';
import { type ConsoleOptions, createConsole } from './app.tsx';
import { createMemoryStore } from './sessions.ts';

/** Listens on 127.0.0.1, on any free port if `port` is 0. To reserve the port early, the server returns 503 until `open` is called. */
export async function startConsole(port: number) {
  let opened: ReturnType<typeof createConsole> | undefined;
  const server = createAdaptorServer({
    fetch: (request: Request) => opened?.fetch(request) ?? new Response('Starting\n', { status: 503 }),
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const { host } = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`);
  return {
    url: `http://${host}/`,
    /** Serves the console of a stage. Returns a function that creates sign-in links, each for one use of `credentials`. */
    open: (options: Pick<ConsoleOptions, 'service' | 'credentials'>): (() => string) => {
      opened = createConsole({ ...options, store: createMemoryStore(), host, now: Date.now });
      return opened.makeLink;
    },
    stop: async (): Promise<void> => {
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
    },
  };
}
