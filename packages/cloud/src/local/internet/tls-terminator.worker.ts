/** The thread of the TLS terminator. It says where it listens, and what it does not reach; any message stops it. */
import { parentPort, workerData } from 'node:worker_threads';
import { makeCertificateAuthority } from './certificate-authority.ts';
import { type HostMapSource, makeHostMap } from './host-map.ts';
import { startTlsTerminator } from './tls-terminator.ts';
import type { TerminatorMessage } from './tls-terminator-thread.ts';

const say = (message: TerminatorMessage) => parentPort?.postMessage(message);
const authority = await makeCertificateAuthority();
const terminator = await startTlsTerminator(makeHostMap(workerData as HostMapSource), authority, (name, port) =>
  say({ said: 'unreachable', name, port }),
);
parentPort?.once('message', () => terminator.stop());
say({ said: 'listening', port: terminator.port, authorityCertificate: authority.certificate });
