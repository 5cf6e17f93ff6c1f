/**
 * Receivers in a process of their own, on free ports of 127.0.0.1: by its argument one that is healthy, or one for each flood.
 * It receives the key and the certificate to show, and sends its ports by name.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  drip,
  floods,
  hugeBurst,
  hugeChain,
  startDrip,
  startFlood,
  startHugeChain,
} from '../../tools/support/floods.ts';
import type { HostileIdentity } from '../../tools/support/hostile-tls.ts';

/** The ports of receivers by the names of what they do. */
export type Ports = Readonly<Record<string, number>>;

process.on('disconnect', () => process.exit());
process.once('message', async (identity: HostileIdentity & { readonly host: string }) => {
  process.send?.(process.argv[2] === 'healthy' ? await startHealthy(identity) : await startFloods(identity));
});

/** It answers at once, and on the path `/close` closes the connection then. */
async function startHealthy({ key, certificate }: HostileIdentity): Promise<Ports> {
  const server = createServer({ key, cert: certificate }, (request, response) => {
    const headers = request.url === '/close' ? { connection: 'close' } : {};
    request.resume().on('end', () => response.writeHead(204, headers).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { healthy: (server.address() as AddressInfo).port };
}

async function startFloods(identity: HostileIdentity & { readonly host: string }): Promise<Ports> {
  const ports: Record<string, number> = {};
  for (const flood of [...floods, hugeBurst]) ports[flood.name] = (await startFlood(flood, identity)).port;
  ports[hugeChain] = (await startHugeChain(identity.host)).port;
  ports[drip] = (await startDrip()).port;
  return ports;
}
