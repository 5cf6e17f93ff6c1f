import { setTimeout as pause } from 'node:timers/promises';
import type { PostOutcome } from '../../lambdas/platform/egress/guarded-post.ts';
import { median, quantile } from '../../tools/support/statistics.ts';
import { type MakePost, type Post, startFloodNetwork } from './flood-network.ts';

/** The settings of a measurement of floods: as fast as another process makes them. Times in milliseconds. */
export const floodRun = {
  /** Healthy POSTs alone, and as many beside a flood; one begins each `every`. */
  posts: 400,
  every: 15,
  /** Floods at once. Each is begun anew after the pause. */
  floods: 5,
  pause: 50,
  /** Attempts whose processor time is measured, one after the other, for `attemptsLast` at most. */
  attempts: 100,
  attemptsLast: 5_000,
  deadline: 5_000,
  /** The most that healthy POSTs may be later in the 99th percentile than alone. */
  longestExtra: 40,
  /** The processor time that an attempt may cost beyond a healthy one: in the mean, and the first one. */
  mostCpu: 10,
  mostFirstCpu: 50,
} as const;

/** The measurement of one flood. Times in milliseconds. */
export interface FloodResult {
  readonly name: string;
  readonly alone: readonly number[];
  readonly beside: readonly number[];
  /** Healthy POSTs that did not end with an answer. */
  readonly unanswered: number;
  /** The processor time of an attempt beyond that of a healthy one: of the first one, and the mean of several in a row. */
  readonly firstCpu: number;
  readonly cpu: number;
  /** The ends of the flood's attempts. */
  readonly ends: readonly PostOutcome[];
}

/**
 * Measures what floods below the headers cost this process and the healthy POSTs in it: by the product's guarded POST, over its
 * own connections. The receivers are in other processes.
 */
export async function measureFloods(say: (line: string) => void): Promise<readonly FloodResult[]> {
  const network = await startFloodNetwork(floodRun.deadline);
  try {
    await postHealthy(network.makePost());
    const results: FloodResult[] = [];
    for (const name of network.floods) {
      say(`  ${name} …`);
      results.push(await measureTypically(name, network.makePost));
    }
    return results;
  } finally {
    network.stop();
  }
}

/** Returns how much later healthy POSTs were beside a flood than alone, in the 99th percentile. */
export function laterOf({ alone, beside }: Pick<FloodResult, 'alone' | 'beside'>): number {
  return quantile(beside, 0.99) - quantile(alone, 0.99);
}

/** Measures a flood. Where it delays others too long that is done three times, and the middle one counts: machines hiccup. */
async function measureTypically(name: string, makePost: MakePost): Promise<FloodResult> {
  const first = await measureFlood(name, makePost);
  if (laterOf(first) <= floodRun.longestExtra) return first;
  const others = [await measureFlood(name, makePost), await measureFlood(name, makePost)];
  return [first, ...others].sort((one, other) => laterOf(one) - laterOf(other))[1] ?? first;
}

async function measureFlood(name: string, makePost: MakePost): Promise<FloodResult> {
  const idle = await idleCpu();
  const flooding = await cpuOf(name, idle, makePost);
  const healthy = await cpuOf('healthy', idle, makePost);
  const post = makePost();
  const alone = await postHealthy(post);
  const flood = startFlooding(name, post);
  await pause(floodRun.pause);
  const beside = await postHealthy(post);
  return {
    name,
    alone: alone.times,
    beside: beside.times,
    unanswered: alone.unanswered + beside.unanswered,
    firstCpu: (flooding[0] ?? 0) - median(healthy),
    cpu: mean(flooding) - mean(healthy),
    ends: await flood.stop(),
  };
}

/** Returns the share of a processor that this process takes while nothing is under way. */
async function idleCpu(): Promise<number> {
  const [before, begun] = [process.cpuUsage(), performance.now()];
  await pause(1_000);
  return cpuSince(before) / (performance.now() - begun);
}

/**
 * Returns the processor time of each of several attempts, in a process that knows nothing of the receiver at first. What the
 * process takes when it does nothing is subtracted: some receivers keep an attempt waiting for seconds.
 */
async function cpuOf(name: string, idle: number, makePost: MakePost): Promise<readonly number[]> {
  const { attempts, attemptsLast } = floodRun;
  const post = makePost();
  const times: number[] = [];
  const until = performance.now() + attemptsLast;
  while (times.length < attempts && performance.now() < until) {
    const [before, begun] = [process.cpuUsage(), performance.now()];
    await post(name, '/close');
    times.push(cpuSince(before) - idle * (performance.now() - begun));
  }
  return times;
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Begins healthy POSTs evenly, over new and kept connections in turn. */
async function postHealthy(post: Post) {
  const done = await Promise.all(
    Array.from({ length: floodRun.posts }, async (_, index) => {
      await pause(index * floodRun.every);
      return post('healthy', index % 2 === 0 ? '/' : '/close');
    }),
  );
  return {
    times: done.map(({ took }) => took),
    unanswered: done.filter(({ outcome }) => outcome.outcome !== 'response').length,
  };
}

function startFlooding(name: string, post: Post) {
  let isStopped = false;
  const ends: PostOutcome[] = [];
  const loops = Array.from({ length: floodRun.floods }, async () => {
    while (!isStopped) {
      ends.push((await post(name)).outcome);
      await pause(floodRun.pause);
    }
  });
  return {
    async stop() {
      isStopped = true;
      await Promise.all(loops);
      return ends;
    },
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
