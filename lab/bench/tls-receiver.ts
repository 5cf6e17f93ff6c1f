/**
 * The receiver for measured deliveries, in a separate process. It serves HTTPS on a free port, for any name. The number
 * in the path is the delay of its response in milliseconds. Without a number it never responds.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { makeCertificateAuthority } from '@emissor/cloud/testing';

/** A message to the parent: first the port and the certificate authority, then the request count on demand. */
export type ReceiverMessage =
  | { readonly port: number; readonly authorityCertificate: string }
  | { readonly received: number };

const { certificate, contextFor } = await makeCertificateAuthority();
const presenting: TlsOptions = {
  SNICallback: (name, answer) => {
    // All hosts share one certificate, because the measurement should not include its creation.
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
