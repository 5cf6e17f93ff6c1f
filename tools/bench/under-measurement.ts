import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a server under measurement tells its parent: first where it listens, then its processor time when asked. */
export type Told = { readonly port: number } | { readonly cpuMs: number };

/** Makes this process a server under measurement: it listens on a free port, and tells its processor time on any message. */
export async function serveUnderMeasurement(server: Server): Promise<void> {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    tell({ cpuMs: (user + system) / 1_000 });
  });
  process.on('disconnect', () => process.exit());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  tell({ port: (server.address() as AddressInfo).port });
}

function tell(told: Told): void {
  return void process.send?.(told);
}
