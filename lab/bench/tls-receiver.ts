/**
 * Runs the receiver for measured deliveries. It serves HTTPS for any host on a free port. The number in the path is
 * the response delay in milliseconds. For a path without a number, the receiver never responds.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { makeCertificateAuthority } from '@emissor/cloud/testing';

/** A message to the parent process. Only the first message contains the port and the certificate authority. */
export type ReceiverMessage =
  | { readonly port: number; readonly authorityCertificate: string }
  | { readonly received: number };

const { certificate, contextFor } = await makeCertificateAuthority();
const tlsOptions: TlsOptions = {
  SNICallback: (name, callback) => {
    contextFor(name).then(context => callback(null, context), callback);
  },
};
let received = 0;

const receiver = createServer(tlsOptions, (request, response) => {
  received += 1;
  const milliseconds = Number(/^\/(\d+)$/.exec(request.url ?? '')?.[1] ?? Number.NaN);
  request.resume().on('end', () => {
    if (!Number.isNaN(milliseconds)) setTimeout(() => response.writeHead(204).end(), milliseconds);
  });
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');

process.on('message', () => report({ received }));
process.on('disconnect', () => process.exit());
report({ port: (receiver.address() as AddressInfo).port, authorityCertificate: certificate });

function report(message: ReceiverMessage): void {
  return void process.send?.(message);
}
