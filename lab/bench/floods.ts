import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { generate } from 'selfsigned';
import { makeConnections } from '../../lambdas/platform/egress/connections.ts';
import { makeGuardedPost, type PostOutcome } from '../../lambdas/platform/egress/guarded-post.ts';
import { makePinnedPost } from '../../lambdas/platform/egress/pinned-request.ts';
import { systemTime } from '../../lambdas/platform/timer.ts';
import { median, quantile } from '../../tools/support/statistics.ts';
import type { FloodPorts } from './flood-receivers.ts';

/** The 99th percentiles of POST times to a healthy receiver, alone and during floods. They are medians over the rounds, in milliseconds. */
export interface FloodRow {
  readonly flood: string;
  readonly aloneP99: number;
  readonly floodedP99: number;
  /** The delay that the floods cause, as the median over the rounds. */
  readonly delayMs: number;
}

export interface FloodSize {
  readonly rounds: number;
  /** The number of POSTs to the healthy receiver in a round. The benchmark sends one every 15 ms. */
  readonly posts: number;
}

/** The number of concurrently flooded connections. */
export const concurrentFloods = 5;

/** Measures the delay of a process's POSTs while its other connections are flooded. */
export async function measureFloods({ rounds, posts }: FloodSize, progress: (label: string) => void) {
  const receivers = await startReceivers();
  try {
    const post = makePost(receivers);
    await postHealthy(post, posts); // warm-up
    const rows: FloodRow[] = [];
    for (const flood of receivers.floods) {
      progress(flood);
      rows.push(await measureFlood(flood, post, { rounds, posts }));
    }
    return rows;
  } finally {
    receivers.stop();
  }
}

/** The interval between POSTs to the healthy receiver, in milliseconds. */
const postInterval = 15;

/** The pause between floods on a connection, in milliseconds. */
const floodPause = 50;

type Post = (name: string, path?: string) => Promise<PostOutcome>;

async function measureFlood(flood: string, post: Post, { rounds, posts }: FloodSize): Promise<FloodRow> {
  const percentiles: (readonly [alone: number, flooded: number])[] = [];
  for (let round = 0; round < rounds; round++) {
    const alone = await postHealthy(post, posts);
    const stop = startFlooding(flood, post);
    const flooded = await postHealthy(post, posts);
    await stop();
    percentiles.push([quantile(alone, 0.99), quantile(flooded, 0.99)]);
  }
  return {
    flood,
    aloneP99: median(percentiles.map(([alone]) => alone)),
    floodedP99: median(percentiles.map(([, flooded]) => flooded)),
    delayMs: median(percentiles.map(([alone, flooded]) => flooded - alone)),
  };
}

/** Sends POSTs to the healthy receiver at a regular interval, alternately over new and reused connections. Returns their times. */
function postHealthy(post: Post, posts: number): Promise<readonly number[]> {
  return Promise.all(
    Array.from({ length: posts }, async (_, index) => {
      await pause(index * postInterval);
      const start = performance.now();
      const { outcome } = await post('healthy', index % 2 === 0 ? '/' : '/close');
      if (outcome !== 'response') throw new Error(`A POST to the healthy receiver ended with ${outcome}.`);
      return performance.now() - start;
    }),
  );
}

function startFlooding(flood: string, post: Post): () => Promise<unknown> {
  let isStopped = false;
  const loops = Array.from({ length: concurrentFloods }, async () => {
    while (!isStopped) {
      await post(flood);
      await pause(floodPause);
    }
  });
  return () => {
    isStopped = true;
    return Promise.all(loops);
  };
}

type Receivers = Awaited<ReturnType<typeof startReceivers>>;

/** Starts the receivers. The flooding receivers run in a separate process with low priority. */
async function startReceivers() {
  const { private: key, cert: certificate } = await generate([{ name: 'commonName', value: 'floods' }], {
    keyType: 'ec',
    curve: 'P-256',
    notBeforeDate: new Date(Date.now() - 60_000), // OpenSSL's clock lags by a few milliseconds
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: '*.example.com' }] }],
  });
  const [healthy, floods] = [startProcess('healthy'), startProcess('floods')];
  if (floods.pid !== undefined) setPriority(floods.pid, constants.priority.PRIORITY_LOW);
  const ports = [await portsOf(healthy), await portsOf(floods)] as const;
  return {
    ports: { ...ports[0], ...ports[1] },
    floods: Object.keys(ports[1]),
    certificate,
    stop() {
      for (const child of [healthy, floods]) child.disconnect();
    },
  };

  function startProcess(role: string): ChildProcess {
    const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
    return fork(join(import.meta.dirname, 'flood-receivers.ts'), [role], { stdio: [...stdio] });
  }

  async function portsOf(child: ChildProcess): Promise<FloodPorts> {
    child.send({ key, certificate });
    const [ports = {}]: FloodPorts[] = await once(child, 'message');
    return ports;
  }
}

/** Creates the product's guarded POST, which connects to the local ports of the named receivers. */
function makePost({ ports, certificate }: Receivers): Post {
  const names = Object.keys(ports);
  const addressOf = (index: number) => `93.184.216.${index + 1}`;
  const portAt = new Map(names.map((name, index) => [addressOf(index), ports[name] ?? 0]));
  const connections = makeConnections({
    ca: certificate,
    connect: ({ host = '', ...options }) => connect({ ...options, host: '127.0.0.1', port: portAt.get(host) ?? 0 }),
  });
  const post = makeGuardedPost({
    ...systemTime,
    resolve: async host => [addressOf(Number(/^r(\d+)\./.exec(host)?.[1]))],
    ownHosts: [],
    random: Math.random,
    post: makePinnedPost(connections),
  });
  return (name, path = '/') =>
    post({
      accountId: name,
      url: `https://r${names.indexOf(name)}.example.com${path}`,
      headers: {},
      body: '{"event":"x"}',
      deadlineMs: 5_000,
      connectTimeoutMs: 4_000,
    });
}
