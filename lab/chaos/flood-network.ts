import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { type Connections, makeConnections } from '../../lambdas/platform/egress/connections.ts';
import { makeGuardedPost, type PostOutcome } from '../../lambdas/platform/egress/guarded-post.ts';
import { makeOutageDetector } from '../../lambdas/platform/egress/outage-detector.ts';
import { makePinnedPost } from '../../lambdas/platform/egress/pinned-request.ts';
import { makeEventLoopLag } from '../../lambdas/platform/event-loop-lag.ts';
import { systemTime } from '../../lambdas/platform/timer.ts';
import { costlyChain } from '../../tools/support/floods.ts';
import type { Ports } from './flood-servers.ts';

/** Posts to the receiver of that name. */
export type Post = (name: string, path?: string) => Promise<{ readonly outcome: PostOutcome; readonly took: number }>;

/** Makes a POST with connections of its own, in a process that knows nothing of the receivers. */
export type MakePost = (deadlineMs: number) => Post;

/** Receivers in other processes, each with a name and a public address, and the product's guarded POST to them. */
export interface FloodNetwork {
  /** The names of the receivers that flood. Beside them there is `healthy`. */
  readonly floods: readonly string[];
  /** Over the product's connections. */
  readonly metered: MakePost;
  /** Over connections without a meter. */
  readonly plain: MakePost;
  stop(): void;
}

/** Starts the receivers. */
export async function startFloodNetwork(): Promise<FloodNetwork> {
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
    ...postsTo({ ...healthy.ports, ...floods.ports }, certificate),
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

/** Returns the guarded POST in a network in which each receiver has a name and a public address. */
function postsTo(ports: Ports, ca: string): Pick<FloodNetwork, 'metered' | 'plain'> {
  const names = Object.keys(ports);
  const addressOf = (name: string) => `93.184.216.${names.indexOf(name) + 1}`;
  const hostOf = (name: string) => `r${names.indexOf(name)}.example.com`;
  const portAt = new Map(names.map(name => [addressOf(name), ports[name] ?? 0]));
  const nameOf = new Map(names.map(name => [hostOf(name), name]));
  let posted = 0;
  /** The costly chain has a new host each time, as an account may register one for each attempt. */
  const nextHostOf = (name: string) => (name === costlyChain ? `n${posted++}.${hostOf(name)}` : hostOf(name));
  const whereabouts = (address: string) => ({ host: '127.0.0.1', port: portAt.get(address) ?? 0 });
  const { begin } = makeEventLoopLag(systemTime);

  const makePost =
    (open: () => Connections): MakePost =>
    deadlineMs => {
      const post = makeGuardedPost({
        resolve: async host => [addressOf(nameOf.get(host.replace(/^n\d+\./, '')) ?? '')],
        ownHosts: [],
        outageDetector: makeOutageDetector(systemTime),
        ...systemTime,
        random: Math.random,
        post: makePinnedPost(open()),
      });
      return async function postTo(name, path = '/') {
        const url = `https://${nextHostOf(name)}${path}`;
        const lag = begin();
        const startedAt = performance.now();
        const request = {
          accountId: name,
          url,
          headers: {},
          body: '{"event":"x"}',
          deadlineMs,
          connectTimeoutMs: 700,
        };
        const outcome = await post({ ...request, elapsed: lag.elapsed });
        lag.end();
        return { outcome, took: performance.now() - startedAt };
      };
    };

  return {
    metered: makePost(() =>
      makeConnections({ ca, connect: ({ host = '', ...options }) => connect({ ...options, ...whereabouts(host) }) }),
    ),
    plain: makePost(() => plainConnections(whereabouts, ca)),
  };
}

/** Node's own agents over Node's own sockets, with the options of the product's. */
function plainConnections(whereabouts: (address: string) => { host: string; port: number }, ca: string): Connections {
  const { kept, fresh } = makeConnections({ ca });
  class PlainAgent extends Agent {
    override createConnection(...[options, callback]: Parameters<Agent['createConnection']>) {
      return super.createConnection({ ...options, ...whereabouts(String(options.host)) }, callback);
    }
  }
  return { kept: new PlainAgent({ ...kept.options }), fresh: new PlainAgent({ ...fresh.options }) };
}
