/**
 * The receiver that deliveries are measured against, in a process of its own: HTTPS on a free port, for any name. Its
 * path says after how many milliseconds it answers; without a number in it, never. Beside it, TLS before a store: what
 * comes in is passed on to the port of 127.0.0.1 that is the argument.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { pipeline } from 'node:stream';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { makeCertificateAuthority } from '@emissor/local-cloud/testing';

/** Its messages to the parent: first its ports and its certificate authority, then the number of requests when asked. */
export type ReceiverMessage =
  | { readonly port: number; readonly storePort: number; readonly authorityCertificate: string }
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
const store = createTlsServer(presenting, incoming => {
  const outgoing = connect(Number(process.argv[2]), '127.0.0.1').setNoDelay();
  pipeline(incoming.setNoDelay(), outgoing, incoming, () => undefined);
});

process.on('message', () => tell({ received }));
process.on('disconnect', () => process.exit());
tell({ port: await listen(receiver), storePort: await listen(store), authorityCertificate: certificate });

function tell(message: ReceiverMessage): void {
  return void process.send?.(message);
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
