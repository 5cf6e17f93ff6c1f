/** Runs a receiver that responds after 20 ms. It sends its port and request count to the parent process at startup and on request. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

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
process.on('message', report);
process.on('disconnect', () => process.exit());
report();

function report(): void {
  const message: BurstReceiverMessage = { port: (server.address() as AddressInfo).port, received };
  process.send?.(message);
}
