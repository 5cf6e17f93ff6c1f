/**
 * The receiver for measured deliveries, in a separate process: HTTPS on a free port, for any name. The number in the path is the delay of
 * its answer in milliseconds; without a number it never answers.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { makeCertificateAuthority } from '@emissor/cloud/testing';

/** Its messages to the parent: first its port and certificate authority, then the number of requests on demand. */
export type ReceiverMessage =
  | { readonly port: number; readonly authorityCertificate: string }
  | { readonly received: number };

const { certificate, contextFor } = await makeCertificateAuthority();
const presenting: TlsOptions = {
  SNICallback: (name, answer) => {
    // One certificate for all hosts: its creation should not be measured.
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
