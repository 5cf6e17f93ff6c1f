/** A receiver in a process of its own that answers after 20 ms. It tells its port, and on any message what it received. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The message of the receiver to its parent. */
export interface BurstReceiverMessage {
  readonly port: number;
  readonly received: number;
}

let received = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    received += 1;
    setTimeout(() => response.end(), 20);
  });
}).listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('message', tell);
process.on('disconnect', () => process.exit());
tell();

function tell(): void {
  const message: BurstReceiverMessage = { port: (server.address() as AddressInfo).port, received };
  process.send?.(message);
}
