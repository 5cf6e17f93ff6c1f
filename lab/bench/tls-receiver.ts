/**
 * The receiver that deliveries are measured against, in a process of its own: HTTPS on a free port, for any name. Its
 * path says after how many milliseconds it answers; without a number in it, never.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { makeCertificateAuthority } from '@emissor/cloud/testing';

/** Its messages to the parent: first its port and its certificate authority, then the number of requests when asked. */
export type ReceiverMessage =
  | { readonly port: number; readonly authorityCertificate: string }
  | { readonly received: number };

const { certificate, contextFor } = await makeCertificateAuthority();
const presenting: TlsOptions = {
  SNICallback: (name, answer) => {
    // One certificate for all hosts of an event each: making it is not what is measured.
    contextFor(name.replace(/^each\d+\./, '*.')).then(context => answer(null, context), answer);
  },
};
let received = 0;

const receiver = createServer(presenting, (request, response) => {
  received += 1;
  const milliseconds = Number(/^\/(\d+)$/.exec(request.url ?? '')?.[1] ?? Number.NaN);
  request.resume().on('end', () => {
    if (!Number.isNaN(milliseconds)) setTimeout(() => response.writeHead(204).end(), milliseconds);
  });
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');

process.on('message', () => tell({ received }));
process.on('disconnect', () => process.exit());
tell({ port: (receiver.address() as AddressInfo).port, authorityCertificate: certificate });

function tell(message: ReceiverMessage): void {
  return void process.send?.(message);
}
