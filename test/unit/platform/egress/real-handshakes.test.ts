import { createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { byteBudget } from '../../../../lambdas/platform/egress/byte-budget.ts';
import {
  makeChain,
  makeSignedChain,
  randomRsaKey,
  signingLatticeKey,
  signingRsaKey,
} from '../../../../tools/support/certificate-chain.ts';
import { listen } from '../../../../tools/support/listen.ts';
import { ok, postVia, request } from './posting.ts';
import { loopbackNetwork } from './tls-receiver.ts';

type SignedChain = ReturnType<typeof makeSignedChain>;

/** The options that make a handshake large. */
interface HandshakeOptions {
  readonly version?: 'TLSv1.2' | 'TLSv1.3';
  /** The authorities in the request for the client's certificate (RFC 8446 section 4.2.4), in PEM. */
  readonly authorities?: string;
  /** The maximum number of bytes in a record. */
  readonly fragment?: number;
}

const startReceiver = async ({ key, certificate: cert }: SignedChain, options: HandshakeOptions) => {
  const { version = 'TLSv1.3', authorities: ca, fragment } = options;
  const versions = { minVersion: version, maxVersion: version };
  const secureContext = createSecureContext({ key, cert, ...versions, ...(ca !== undefined && { ca }) });
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    const requestCert = ca !== undefined;
    const tls = new TLSSocket(socket, { isServer: true, secureContext, requestCert, rejectUnauthorized: false });
    if (fragment !== undefined) tls.setMaxSendFragment(fragment);
    tls.on('error', () => socket.destroy()).on('data', () => tls.write(ok));
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return listen(server);
};

// By ADR 20, the byte budget is sufficient for the largest handshakes of real servers.
describe('a handshake with a real server', () => {
  const host = 'receiver.example.com';
  const rsa = signingRsaKey(4_096);
  // The client does not request OCSP stapling. A stapled response has up to 3,000 bytes.
  const stapled = makeSignedChain(host, 5, rsa, 3_000);
  const authority = randomRsaKey(2_048, Buffer.of(1, 0, 1));
  const authorities = makeChain(host, 350_000, () => authority).certificate; // 400 authorities
  const lattice = makeSignedChain(host, 3, signingLatticeKey('ml-dsa-87'));

  it.each<[string, SignedChain, HandshakeOptions]>([
    ['with the largest RSA chain, TLS 1.2', stapled, { version: 'TLSv1.2', authorities, fragment: 512 }],
    ['with the largest RSA chain, TLS 1.3', stapled, { authorities, fragment: 512 }],
    ['with three certificates of ML-DSA-87', lattice, {}],
  ])('%s is accepted, and leaves enough bytes for a response', async (_case, chain, options) => {
    const { network, sockets } = loopbackNetwork(await startReceiver(chain, options), chain.root);
    expect(await postVia(network).post(request)).toMatchObject({ outcome: 'response', status: 200 });
    expect(sockets[0]?.bytesRead).toBeLessThan(byteBudget - 17 * 1_024); // 16 KiB of headers and 1 KiB of the body
  });
});
