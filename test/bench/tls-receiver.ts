/**
 * The receiver that deliveries are measured against, in a process of its own: HTTPS on a free port, for any name. Its
 * path says after how many milliseconds it answers; without a number in it, never.
 */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeCertificateAuthority } from '../../local/internet/certificates.ts';

/** What it tells its parent: first where it listens and who certifies it, then, when asked, how many requests came. */
export type ReceiverTold =
  | { readonly port: number; readonly authorityCertificate: string }
  | { readonly received: number };

const tell = (told: ReceiverTold): void => void process.send?.(told);

const { certificate, contextFor } = await makeCertificateAuthority();
let received = 0;

const server = createServer(
  {
    SNICallback: (name, answer) => {
      contextFor(name).then(context => answer(null, context), answer);
    },
  },
  (request, response) => {
    received += 1;
    const milliseconds = Number(/^\/(\d+)$/.exec(request.url ?? '')?.[1] ?? Number.NaN);
    request.resume().on('end', () => {
      if (!Number.isNaN(milliseconds)) setTimeout(() => response.writeHead(204).end(), milliseconds);
    });
  },
);
process.on('message', () => tell({ received }));
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1');
await once(server, 'listening');
tell({ port: (server.address() as AddressInfo).port, authorityCertificate: certificate });
