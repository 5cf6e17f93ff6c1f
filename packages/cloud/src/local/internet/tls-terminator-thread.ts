import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LoopbackServer } from '../loopback-server.ts';
import type { HostMapSource } from './host-map.ts';
import type { OnUnreachable } from './tls-terminator.ts';

/** A TLS terminator in a thread of its own. */
interface TerminatorThread extends LoopbackServer {
  /** PEM of the authority that issues the certificates of all mapped hosts. */
  readonly authorityCertificate: string;
}

export type TerminatorMessage =
  | { readonly said: 'listening'; readonly port: number; readonly authorityCertificate: string }
  | { readonly said: 'unreachable'; readonly name: string; readonly port: number };

/**
 * Starts a TLS terminator in a thread. An event loop accepts one connection in each of its turns (libuv): beside tables and
 * queues at work, new connections of all receivers would wait for seconds.
 */
export async function startTerminatorThread(
  source: HostMapSource,
  onUnreachable: OnUnreachable,
): Promise<TerminatorThread> {
  const worker = new Worker(new URL('./tls-terminator.worker.ts', import.meta.url), { workerData: source });
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.on('message', (message: TerminatorMessage) => {
      if (message.said === 'unreachable') return onUnreachable(message.name, message.port);
      const { port, authorityCertificate } = message;
      resolve({ port, authorityCertificate, stop });
    });
  });

  async function stop(): Promise<void> {
    worker.postMessage('stop');
    await once(worker, 'exit');
  }
}
