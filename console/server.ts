import { once } from 'node:events';
import { createAdaptorServer } from '@hono/node-server';
import { type ConsoleOptions, createConsole } from './app.tsx';
import { createMemoryStore } from './sessions.ts';

/** Starts a server on 127.0.0.1, which returns 503 until `open` is called. If `port` is 0, it listens on any free port. */
export async function startConsole(port: number) {
  let app: ReturnType<typeof createConsole> | undefined;
  const server = createAdaptorServer({
    fetch: (request: Request) => app?.fetch(request) ?? new Response('Starting\n', { status: 503 }),
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const { host } = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`);
  return {
    url: `http://${host}/`,
    /** Serves the console of a stage. Returns a function that creates single-use sign-in links for `credentials`. */
    open: (options: Pick<ConsoleOptions, 'service' | 'credentials'>): (() => string) => {
      app = createConsole({ ...options, store: createMemoryStore(), host, now: Date.now });
      return app.makeLink;
    },
    stop: async (): Promise<void> => {
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
    },
  };
}
