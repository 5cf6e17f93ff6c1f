import { setTimeout as pause } from 'node:timers/promises';
import type { PostOutcome } from '../../lambdas/platform/egress/guarded-post.ts';
import { costlyChain, hugeBurst } from '../../tools/support/floods.ts';
import { median, quantile, rotated } from '../../tools/support/statistics.ts';
import { type FloodNetwork, type MakePost, type Post, startFloodNetwork } from './flood-network.ts';

/** The settings of a measurement of floods. Times in milliseconds. */
export interface FloodSettings {
  /** Healthy POSTs alone, and as many beside a flood; one begins each `every`. */
  readonly posts: number;
  readonly every: number;
  /** Floods at once. Each is begun anew after the pause. */
  readonly floods: number;
  readonly pause: number;
  /** Attempts whose processor time is measured, one after the other, for `attemptsLast` at most. */
  readonly attempts: number;
  readonly attemptsLast: number;
  readonly deadline: number;
  /** Rounds of POSTs with and without the meter, and POSTs of each. */
  readonly rounds: number;
  readonly postsPerRound: number;
  /** The most that healthy POSTs may be later in the 99th percentile than alone. */
  readonly longestExtra: number;
  /** The processor time that an attempt may cost beyond a healthy one: in the mean, and the first one. */
  readonly mostCpu: number;
  readonly mostFirstCpu: number;
}

/** Floods as fast as another process makes them. */
export const floodRun: FloodSettings = {
  posts: 400,
  every: 15,
  floods: 5,
  pause: 50,
  attempts: 100,
  attemptsLast: 5_000,
  deadline: 5_000,
  rounds: 10,
  postsPerRound: 600,
  longestExtra: 40,
  mostCpu: 10,
  mostFirstCpu: 50,
};

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
  /** The ends of the flood's attempts, and the number of each. */
  readonly ends: ReadonlyMap<string, number>;
  readonly longest: number;
  /** True when each ended by its deadline, as the receiver's failure or with its answer. */
  readonly isCharged: boolean;
}

/** The processor time of a POST with the meter and without it, in milliseconds; medians over the rounds. */
interface MeterCost {
  readonly what: string;
  readonly metered: number;
  readonly plain: number;
  readonly ratio: number;
}

/** The measurements of all floods. */
export interface FloodReport {
  readonly results: readonly FloodResult[];
  /** Floods that no limit helps against, and a flood without the meter: the measure shows their cost, and allows it. */
  readonly unlimited: readonly FloodResult[];
  readonly costs: readonly MeterCost[];
}

/**
 * Measures what floods below the headers cost this process and the healthy POSTs in it: by the product's guarded POST, over its
 * own connections. The receivers are in other processes.
 */
export async function measureFloods(settings: FloodSettings, say: (line: string) => void): Promise<FloodReport> {
  const network = await startFloodNetwork();
  try {
    const names = network.floods.filter(name => name !== costlyChain);
    await warmUp(network, settings);
    const results: FloodResult[] = [];
    for (const name of names) {
      say(`  ${name} …`);
      results.push(await measureTypically(name, network.metered, settings));
    }
    say(`  ${costlyChain} …`);
    const costly = await measureFlood(costlyChain, network.metered, settings);
    say('  without the meter …');
    const unmetered = await measureFlood(hugeBurst.name, network.plain, settings);
    const unlimited = [costly, { ...unmetered, name: `${unmetered.name}, without the meter` }];
    say('  the cost of the meter …');
    return { results, unlimited, costs: await measureCosts(network, settings) };
  } finally {
    network.stop();
  }
}

/** Returns how much later healthy POSTs were beside a flood than alone, in the 99th percentile. */
export function laterOf({ alone, beside }: FloodResult): number {
  return quantile(beside, 0.99) - quantile(alone, 0.99);
}

async function warmUp({ metered, plain }: FloodNetwork, { deadline }: FloodSettings): Promise<void> {
  for (const post of [metered(deadline), plain(deadline)]) {
    for (let time = 0; time < warmUpPosts; time++) await post('healthy', time % 2 === 0 ? '/' : '/close');
  }
}

/** Measures a flood. Where it delays others too long that is done three times, and the middle one counts: machines hiccup. */
async function measureTypically(name: string, makePost: MakePost, settings: FloodSettings): Promise<FloodResult> {
  const first = await measureFlood(name, makePost, settings);
  if (laterOf(first) <= settings.longestExtra) return first;
  const others = [await measureFlood(name, makePost, settings), await measureFlood(name, makePost, settings)];
  const sorted = [first, ...others].sort((one, other) => laterOf(one) - laterOf(other));
  return sorted[1] ?? first;
}

async function measureFlood(name: string, makePost: MakePost, settings: FloodSettings): Promise<FloodResult> {
  const idle = await idleCpu();
  const flooding = await cpuOf(name, idle, makePost, settings);
  const healthy = await cpuOf('healthy', idle, makePost, settings);
  const post = makePost(settings.deadline);
  const alone = await postHealthy(post, settings);
  const flood = startFlooding(name, post, settings);
  await pause(settings.pause);
  const beside = await postHealthy(post, settings);
  const attempts = await flood.stop();
  const ends = new Map<string, number>();
  for (const { outcome } of attempts) ends.set(describe(outcome), (ends.get(describe(outcome)) ?? 0) + 1);
  const durations = attempts.map(({ outcome }) => outcome.durationMs);
  return {
    name,
    alone: alone.times,
    beside: beside.times,
    unanswered: alone.unanswered + beside.unanswered,
    firstCpu: (flooding[0] ?? 0) - median(healthy),
    cpu: mean(flooding) - mean(healthy),
    ends,
    longest: Math.max(...durations),
    isCharged: attempts.every(
      ({ outcome }) =>
        !['internal_error', 'given_up'].includes(outcome.outcome) && outcome.durationMs <= settings.deadline + 100,
    ),
  };
}

/** Returns the share of a processor that this process takes while nothing is under way. */
async function idleCpu(): Promise<number> {
  const [before, begun] = [process.cpuUsage(), performance.now()];
  await pause(idleLasts);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / (performance.now() - begun);
}

/**
 * Returns the processor time of each of several attempts, in a process that knows nothing of the receiver at first. What the
 * process takes when it does nothing is subtracted: some receivers keep an attempt waiting for seconds.
 */
async function cpuOf(
  name: string,
  idle: number,
  makePost: MakePost,
  { attempts, attemptsLast, deadline }: FloodSettings,
): Promise<readonly number[]> {
  const post = makePost(deadline);
  const times: number[] = [];
  const until = performance.now() + attemptsLast;
  while (times.length < attempts && performance.now() < until) {
    const [before, begun] = [process.cpuUsage(), performance.now()];
    await post(name, '/close');
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1_000 - idle * (performance.now() - begun));
  }
  return times;
}

/** Begins healthy POSTs evenly, over new and kept connections in turn. */
async function postHealthy(post: Post, { posts, every }: FloodSettings) {
  const done = await Promise.all(
    Array.from({ length: posts }, async (_, index) => {
      await pause(index * every);
      return post('healthy', index % 2 === 0 ? '/' : '/close');
    }),
  );
  return {
    times: done.map(({ took }) => took),
    unanswered: done.filter(({ outcome }) => outcome.outcome !== 'response').length,
  };
}

function startFlooding(name: string, post: Post, settings: FloodSettings) {
  let isStopped = false;
  const ended: Awaited<ReturnType<Post>>[] = [];
  const loops = Array.from({ length: settings.floods }, async () => {
    while (!isStopped) {
      ended.push(await post(name));
      await pause(settings.pause);
    }
  });
  return {
    async stop() {
      isStopped = true;
      await Promise.all(loops);
      return ended;
    },
  };
}

function describe(outcome: PostOutcome): string {
  if (outcome.outcome === 'response') return `response ${outcome.status}`;
  return 'detail' in outcome ? `${outcome.outcome}: ${outcome.detail}` : outcome.outcome;
}

async function measureCosts(
  network: FloodNetwork,
  { rounds, postsPerRound, deadline }: FloodSettings,
): Promise<MeterCost[]> {
  const posts = { metered: network.metered(deadline), plain: network.plain(deadline) };
  const costs: MeterCost[] = [];
  for (const { what, path, share } of [
    { what: 'over a kept connection', path: '/', share: 1 },
    { what: 'over a new connection', path: '/close', share: 1 / 4 },
  ]) {
    const measured = { metered: [] as number[], plain: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      for (const which of rotated(['metered', 'plain'] as const, round)) {
        const before = process.cpuUsage();
        const count = Math.ceil(postsPerRound * share);
        for (let time = 0; time < count; time++) await posts[which]('healthy', path);
        const { user, system } = process.cpuUsage(before);
        measured[which].push((user + system) / 1_000 / count);
      }
    }
    const ratios = measured.metered.map((time, round) => time / (measured.plain[round] ?? time));
    costs.push({ what, metered: median(measured.metered), plain: median(measured.plain), ratio: median(ratios) });
  }
  return costs;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const warmUpPosts = 200;

/** Milliseconds. */
const idleLasts = 1_000;
