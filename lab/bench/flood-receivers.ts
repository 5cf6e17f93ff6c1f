/**
 * Starts receivers on free ports of 127.0.0.1 in this process. The argument `healthy` starts a healthy receiver, and
 * `floods` starts two receivers for each flood. The parent process sends the TLS key and certificate, and receives the ports.
 */
import { createServer } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { type HostileIdentity, startHostileReceiver } from '../../tools/support/hostile-tls.ts';
import { listen } from '../../tools/support/listen.ts';
import { type RecordWriter, sessionTicket } from '../../tools/support/tls-records.ts';

/** The port of each receiver, by its name. */
export type FloodPorts = Readonly<Record<string, number>>;

/** The functions that create the bytes of each flood. Each flood exceeds the byte budget of a connection. */
const floods: Readonly<Record<string, (records: RecordWriter) => Buffer>> = {
  KeyUpdates: records => repeat(2_500, () => records.keyUpdate(true)),
  'empty records': records => repeat(2_500, () => records.record('data', Buffer.alloc(0))),
  'session tickets': records => repeat(4, () => records.record('handshake', repeat(800, sessionTicket))),
};

/** The time after which the client has read the response and the connection is idle, in milliseconds. */
const idleDelayMs = 20;

process.on('disconnect', () => process.exit());
process.once('message', async (identity: HostileIdentity) => {
  if (process.argv[2] === 'healthy') return process.send?.({ healthy: await startHealthy(identity) });
  const ports: Record<string, number> = {};
  for (const [name, burst] of Object.entries(floods)) {
    ports[`${name}, new connections`] = await startFlood(burst, identity);
    ports[`${name}, reused connections`] = await startFlood(burst, identity, true);
  }
  return process.send?.(ports);
});

/** Starts a receiver that responds immediately. It closes the connection after a request for `/close`. */
function startHealthy({ key, certificate: cert }: HostileIdentity): Promise<number> {
  const server = createServer({ key, cert }, (request, response) => {
    const headers = request.url === '/close' ? { connection: 'close' } : {};
    request.resume().on('end', () => response.writeHead(204, headers).end());
  });
  return listen(server);
}

/** Starts a receiver that floods each connection instead of responding. If `isReused` is true, it responds before it floods. */
async function startFlood(burst: (records: RecordWriter) => Buffer, identity: HostileIdentity, isReused = false) {
  const { port } = await startHostileReceiver(async ({ records, write }) => {
    if (isReused) {
      await write(records.record('data', Buffer.from('HTTP/1.1 204 No Content\r\n\r\n')));
      await pause(idleDelayMs);
    }
    await write(burst(records));
  }, identity);
  return port;
}

function repeat(count: number, make: () => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, make));
}
