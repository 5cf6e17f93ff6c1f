import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { makeConnections } from '../../lambdas/platform/egress/connections.ts';
import { makeGuardedPost, type PostOutcome } from '../../lambdas/platform/egress/guarded-post.ts';
import { makeOutageDetector } from '../../lambdas/platform/egress/outage-detector.ts';
import { makePinnedPost } from '../../lambdas/platform/egress/pinned-request.ts';
import { makeEventLoopLag } from '../../lambdas/platform/event-loop-lag.ts';
import { systemTime } from '../../lambdas/platform/timer.ts';
import type { Ports } from './flood-servers.ts';

/** Posts to the receiver of that name. */
export type Post = (name: string, path?: string) => Promise<{ readonly outcome: PostOutcome; readonly took: number }>;

/** Makes a POST with connections of its own, in a process that knows nothing of the receivers. */
export type MakePost = () => Post;

/**
 * Starts receivers in other processes, each with a name and a public address: some that flood, and `healthy`. Returns also the
 * product's guarded POST to them, with that deadline.
 */
export async function startFloodNetwork(deadlineMs: number) {
  const { private: key, cert: certificate } = await generate([{ name: 'commonName', value: 'floods' }], {
    keyType: 'ec',
    curve: 'P-256',
    // OpenSSL reads a clock that lags by some milliseconds: a certificate made in the first of a second would not be valid yet.
    notBeforeDate: new Date(Date.now() - 60_000),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: '*.example.com' }] }],
  });
  const healthy = await startServers('healthy', { key, certificate });
  const floods = await startServers('floods', { key, certificate });
  return {
    floods: Object.keys(floods.ports),
    makePost: postsTo({ ...healthy.ports, ...floods.ports }, certificate, deadlineMs),
    stop() {
      healthy.stop();
      floods.stop();
    },
  };
}

async function startServers(role: string, identity: { readonly key: string; readonly certificate: string }) {
  const child = fork(join(import.meta.dirname, 'flood-servers.ts'), [role], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // Where there are two processors, the floods take what the process and the healthy receiver leave of them.
  if (role === 'floods' && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  child.send({ ...identity, host: '*.example.com' });
  const [ports] = (await once(child, 'message')) as [Ports];
  return { ports, stop: () => child.disconnect() };
}

/** Returns what makes guarded POSTs in a network in which each receiver has a name and a public address. */
function postsTo(ports: Ports, ca: string, deadlineMs: number): MakePost {
  const names = Object.keys(ports);
  const addressOf = (index: number) => `93.184.216.${index + 1}`;
  const portAt = new Map(names.map((name, index) => [addressOf(index), ports[name] ?? 0]));
  const hostOf = (name: string) => `r${names.indexOf(name)}.example.com`;
  const { begin } = makeEventLoopLag(systemTime);

  return function makePost() {
    const connections = makeConnections({
      ca,
      connect: ({ host = '', ...options }) => connect({ ...options, host: '127.0.0.1', port: portAt.get(host) ?? 0 }),
    });
    const post = makeGuardedPost({
      resolve: async host => [addressOf(Number(/^r(\d+)\./.exec(host)?.[1]))],
      ownHosts: [],
      outageDetector: makeOutageDetector(systemTime),
      ...systemTime,
      random: Math.random,
      post: makePinnedPost(connections),
    });
    return async function postTo(name, path = '/') {
      const url = `https://${hostOf(name)}${path}`;
      const lag = begin();
      const startedAt = performance.now();
      const request = { accountId: name, url, headers: {}, body: '{"event":"x"}', deadlineMs, connectTimeoutMs: 700 };
      const outcome = await post({ ...request, elapsed: lag.elapsed });
      lag.end();
      return { outcome, took: performance.now() - startedAt };
    };
  };
}
