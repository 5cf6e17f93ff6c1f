import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { median, quantile } from '../bench/figures.ts';
import { waitingMessages } from './engines.ts';
import type { Kind, Visit } from './kinds.ts';
import type { Registration } from './population.ts';
import { functionProcesses } from './processes.ts';
import { accountsOf, type SettledRun, startSettledRun } from './settled-run.ts';

/** How isolation is measured. Times in milliseconds. */
export interface IsolationPlan {
  /** Accounts that are well: what is measured is their first attempts. */
  readonly quiet: number;
  /** Events a second of each of these, and of the neighbour, whatever its receiver does. */
  readonly rate: number;
  /** Accounts whose receivers fail once on every event: what is measured is their second attempts. */
  readonly failing: number;
  /** Events a second of each of these. */
  readonly failingRate: number;
  /** How long each situation lasts. */
  readonly length: number;
  /** Each situation is measured so many times, in turn: what else the machine does then meets all of them. */
  readonly rounds: number;
  /** Batches that each lane works on at once. */
  readonly places: number;
  /** How long receivers take to answer that do. */
  readonly answersAfter: number;
  /** The wait before the second attempt, in whole seconds, as the queue takes it. */
  readonly wait: number;
}

/** Milliseconds, over the rounds: what else the machine did in one of them does not decide. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** What some events have waited. */
export interface Waits {
  readonly events: number;
  readonly p50: Spread;
  readonly p99: Spread;
  /** Events that had not arrived when the situation was over and as much time again had passed. */
  readonly missing: number;
}

/** One situation's figures. */
export interface SituationFigures {
  readonly situation: Situation;
  /** From publishing to the arrival of the first attempt. */
  readonly first: Waits;
  /** By how much second attempts arrive after they were due. */
  readonly second: Waits;
  /** Share of the machine's processors that was at work, whoever's work it was. */
  readonly busy: number;
}

type Say = (line: string) => void;

/** What differs is only what the neighbour's receiver does: both publish the same. */
const situations = ['quick', 'hanging'] as const;
type Situation = (typeof situations)[number];

/** How long processes are kept busy to have another one started: short of being slow, and beyond. */
const startingLength = 1_500;
const slowLength = 2_500;

/** Bursts of such events, as long as they make the run start more processes. */
const mostBursts = 6;

const after = (milliseconds: number, { response }: Visit, status: number): void =>
  void setTimeout(() => response.writeHead(status).end(), milliseconds);

const kindsOf = (answersAfter: number) =>
  ({
    quick: {
      name: 'quick',
      state: 'entregue',
      results: ['entregue'],
      answer: visit => after(answersAfter, visit, 204),
    },
    failing: {
      name: 'failing once',
      state: 'entregue',
      results: ['http', 'entregue'],
      answer: visit => after(answersAfter, visit, visit.earlier === 0 ? 500 : 204),
    },
    starting: {
      name: 'almost slow, and failing once',
      state: 'entregue',
      results: ['http', 'entregue'],
      answer: visit => after(startingLength, visit, visit.earlier === 0 ? 500 : 204),
    },
    slow: {
      name: 'slow',
      state: 'entregue',
      results: ['entregue'],
      answer: visit => after(slowLength, visit, 204),
    },
    hanging: { name: 'hanging', state: 'falhou', results: ['tempo_esgotado'], answer: () => undefined },
  }) satisfies Record<string, Kind>;

/** Moments by delivery id, in milliseconds since the epoch. */
type Moments = ReadonlyMap<string, number>;

/** Publishes events evenly, one account after the other, so many a second of each. Gives their moments. */
const publishFor = async (
  { publish }: SettledRun,
  registrations: readonly Registration[],
  rate: number,
  length: number,
): Promise<Moments> => {
  const published: Promise<readonly [string, number]>[] = [];
  const start = Date.now();
  const total = Math.round((length / 1_000) * rate * registrations.length);
  for (let index = 0; index < total; index++) {
    await pause(Math.max(0, start + (length * index) / total - Date.now()));
    const at = Date.now();
    const sent = publish(registrations[index % registrations.length] as Registration, 1);
    published.push(sent.then(([id = '']) => [id, at]));
  }
  return new Map(await Promise.all(published));
};

/** Waits for `wanted` attempts of each event to arrive, for so long at most. Gives all arrivals, oldest first. */
const arrivalsOf = async ({ receivers }: SettledRun, moments: Moments, wanted: number, longest: number) => {
  const limit = Date.now() + longest;
  for (;;) {
    const found = new Map([...moments.keys()].map(id => [id, [] as number[]]));
    for (const { headers, at } of receivers.arrivals) found.get(String(headers['webhook-id']))?.push(at);
    if (Date.now() > limit || [...found.values()].every(arrivals => arrivals.length >= wanted)) return found;
    await pause(200);
  }
};

/** Milliseconds that all processors together have been at work, and at anything at all. */
const processorTimes = () => {
  const times = cpus().map(cpu => cpu.times);
  const all = times.flatMap(time => Object.values(time)).reduce((sum, value) => sum + value, 0);
  return { all, atWork: all - times.reduce((sum, { idle }) => sum + idle, 0) };
};

/** Nothing that went before may disturb what is measured next: waits until all queues are empty. */
const settleDown = async ({ run, sqs }: SettledRun): Promise<void> => {
  while ((await waitingMessages(sqs, run.outputs)) > 0) await pause(500);
};

/**
 * Has the run start all processes of all lanes, and use them: what is measured is who waits for whom, not how long
 * processes take to start, which do not share a processor on AWS.
 */
const warmUp = async (settled: SettledRun, plan: IsolationPlan): Promise<void> => {
  const { run, publish, registrationsOf } = settled;
  const started = (name: string) => functionProcesses(run.processId, new RegExp(`-${name}[0-9A-F]{8}$`)).length;
  for (const [prefix, functions] of [
    ['starting', ['Deliver', 'Redeliver']],
    ['slow', ['RedeliverSlow']],
  ] as const) {
    for (const registration of registrationsOf(prefix)) {
      if (functions.every(name => started(name) >= plan.places)) break;
      await Promise.all(Array.from({ length: plan.places }, () => publish(registration, 10)));
      await settleDown(settled);
    }
  }
  await publishFor(settled, [...registrationsOf('quiet'), ...registrationsOf('failing')], plan.rate, plan.length / 2);
  await settleDown(settled);
};

const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  least: Math.min(...values),
  most: Math.max(...values),
});

/** What of one round the figures are made of. */
interface Round {
  readonly situation: Situation;
  readonly first: readonly number[];
  readonly second: readonly number[];
  readonly missing: { readonly first: number; readonly second: number };
  readonly busy: number;
}

const figuresOf = (situation: Situation, rounds: readonly Round[]): SituationFigures => {
  const own = rounds.filter(round => round.situation === situation);
  const waits = (which: 'first' | 'second'): Waits => ({
    events: own.reduce((sum, round) => sum + round[which].length, 0),
    p50: spreadOf(own.map(round => quantile(round[which], 0.5))),
    p99: spreadOf(own.map(round => quantile(round[which], 0.99))),
    missing: own.reduce((sum, round) => sum + round.missing[which], 0),
  });
  return { situation, first: waits('first'), second: waits('second'), busy: median(own.map(({ busy }) => busy)) };
};

/**
 * Measures what a hanging receiver does to the accounts beside it, in both lanes: their first attempts from publishing to
 * arrival, and their second attempts from when they are due, beside one more account that is well and beside one whose
 * receiver never answers, from its first event on. Every round has a neighbour of its own that nothing is known of.
 */
export const measureIsolation = async (plan: IsolationPlan, say: Say): Promise<readonly SituationFigures[]> => {
  const kinds = kindsOf(plan.answersAfter);
  const settled = await startSettledRun(
    Object.values(kinds),
    [
      ...accountsOf('quiet', plan.quiet, kinds.quick),
      ...accountsOf('failing', plan.failing, kinds.failing),
      ...accountsOf('starting', mostBursts, kinds.starting),
      ...accountsOf('slow', mostBursts, kinds.slow),
      ...situations.flatMap(situation => accountsOf(situation, plan.rounds, kinds[situation])),
    ],
    ...['--retry-schedule', `${plan.wait / 1_000}s`],
    ...['firstAttempt', 'retry', 'slow'].flatMap(lane => ['--set', `${lane}Concurrency=${plan.places}`]),
  );
  const { registrationsOf } = settled;

  const measure = async (situation: Situation, round: number): Promise<Round> => {
    const neighbours = registrationsOf(`${situation}${round}`);
    const before = processorTimes();
    const [quiet, failing] = await Promise.all([
      publishFor(settled, registrationsOf('quiet'), plan.rate, plan.length),
      publishFor(settled, registrationsOf('failing'), plan.failingRate, plan.length),
      publishFor(settled, neighbours, plan.rate, plan.length),
    ]);
    const now = processorTimes();
    const first = [...(await arrivalsOf(settled, quiet, 1, plan.length))].flatMap(([id, [arrival]]) =>
      arrival === undefined ? [] : [arrival - (quiet.get(id) ?? 0)],
    );
    const second = [...(await arrivalsOf(settled, failing, 2, plan.length)).values()].flatMap(([one, other]) =>
      one === undefined || other === undefined ? [] : [other - (one + plan.answersAfter + plan.wait)],
    );
    await Promise.all(neighbours.map(({ remove }) => remove())); // what is waiting ends at its next turn
    await settleDown(settled);
    return {
      situation,
      first,
      second,
      missing: { first: quiet.size - first.length, second: failing.size - second.length },
      busy: (now.atWork - before.atWork) / (now.all - before.all),
    };
  };

  try {
    say('  starting processes …');
    await warmUp(settled, plan);
    const rounds: Round[] = [];
    for (let round = 0; round < plan.rounds; round++) {
      for (const situation of round % 2 === 0 ? situations : situations.toReversed()) {
        say(`  beside a ${situation} neighbour, round ${round + 1} …`);
        rounds.push(await measure(situation, round));
      }
    }
    return situations.map(situation => figuresOf(situation, rounds));
  } finally {
    await settled.stop();
  }
};
