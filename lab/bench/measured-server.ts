import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The messages of a measured server to its parent: first its port, then its processor time on request. */
export type ServerMessage = { readonly port: number } | { readonly cpuMs: number };

/** Makes this process a measured server: it listens on a free port and answers any message with its processor time. */
export async function serveMeasured(server: Server): Promise<void> {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    tell({ cpuMs: (user + system) / 1_000 });
  });
  process.on('disconnect', () => process.exit());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  tell({ port: (server.address() as AddressInfo).port });
}

function tell(message: ServerMessage): void {
  return void process.send?.(message);
}
