import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy of an AWS service that counts requests. */
export interface CallCounter {
  /** `http://127.0.0.1:port` */
  readonly endpoint: string;
  /** Requests by operation since the last call. */
  take(): ReadonlyMap<string, number>;
  stop(): void;
}

/** Starts a counting proxy of the service at an endpoint. */
export async function startCallCounter(service: string): Promise<CallCounter> {
  const agent = new Agent({ keepAlive: true });
  let calls = new Map<string, number>();

  const server = createServer((incoming, outgoing) => {
    const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    calls.set(operation, (calls.get(operation) ?? 0) + 1);
    const { method, url, headers } = incoming;
    const forwarded = request(new URL(url ?? '/', service), { method, headers, agent }, answer => {
      answer.pipe(outgoing.writeHead(answer.statusCode ?? 500, answer.headers));
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take: () => {
      const taken = calls;
      calls = new Map();
      return taken;
    },
    stop: () => {
      agent.destroy();
      server.close();
      server.closeAllConnections();
    },
  };
}
