import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { functionProcesses } from '../support/function-processes.ts';
import type { Kind, Visit } from './kinds.ts';
import type { Registration } from './population.ts';
import { accountsOf, type SettledRun, startSettledRun } from './settled-run.ts';

/** How isolation is measured. Times in milliseconds. */
export interface IsolationPlan {
  /** Accounts that are well: what is measured is their first attempts. */
  readonly healthy: number;
  /** Accounts whose receivers fail once on every event: what is measured is their second attempts. */
  readonly failing: number;
  /** Events a second of each of these. */
  readonly rate: number;
  /** How long each situation lasts; beside a burst three times as long, since its effect is over in seconds. */
  readonly length: number;
  /** Batches that each lane works on at once, by the name of its stage value. */
  readonly places: Readonly<Record<'first' | 'retry' | 'slow', number>>;
  /** The deadline of an attempt. */
  readonly attemptTimeout: number;
  /** How long receivers take to answer that are well. */
  readonly answersAfter: number;
  /** The wait before the second attempt, in whole seconds, as the queue takes it. */
  readonly wait: number;
  /** How much later others may be in the 99th percentile than alone. */
  readonly longestExtra: number;
}

/** One situation's figures. */
export interface SituationFigures {
  readonly order: QueueOrder;
  readonly situation: string;
  /** From publishing to the arrival of the first attempt, in milliseconds. */
  readonly first: readonly number[];
  /** By how much second attempts arrive after they were due, in milliseconds. */
  readonly second: readonly number[];
  /** Events that had not arrived when the situation was over and as much time again had passed. */
  readonly missing: number;
  /** Share of the machine's processors that was at work, on anything. */
  readonly busy: number;
}

/**
 * Measures what attacks do to the accounts beside them, with and without fair queues: first attempts from publishing to
 * arrival, and second attempts from when they are due, alone and beside each attack. Every attack has accounts of its own
 * that nothing is known of.
 */
export async function measureIsolation(plan: IsolationPlan, say: Say): Promise<readonly SituationFigures[]> {
  const figures: SituationFigures[] = [];
  for (const order of queueOrders) figures.push(...(await measureInOrder(order, plan, say)));
  return figures;
}

/** How the local queues hand messages out; see `--queue-order`. */
type QueueOrder = (typeof queueOrders)[number];
const queueOrders = ['fair', 'arrival'] as const;

type Say = (line: string) => void;

async function measureInOrder(order: QueueOrder, plan: IsolationPlan, say: Say): Promise<readonly SituationFigures[]> {
  const kinds = kindsOf(plan.answersAfter);
  const settled = await startSettledRun(
    Object.values(kinds),
    [
      ...accountsOf('healthy', plan.healthy, kinds.quick),
      ...accountsOf('failing', plan.failing, kinds.failing),
      ...attacks.flatMap(({ accounts, kind }, index) => accountsOf(`attack${index}-`, accounts, kinds[kind])),
    ],
    ...['--retry-schedule', `${plan.wait / 1_000}s`, '--queue-order', order],
    ...['--set', `attemptTimeout=${plan.attemptTimeout}ms`],
    ...Object.entries(plan.places).flatMap(([lane, places]) => ['--set', `${lane}Concurrency=${places}`]),
  );
  const { registrationsOf } = settled;
  try {
    say(`  starting processes (${order}) …`);
    await warmUp(settled, plan);
    const figures = [await measure(settled, plan, order)];
    for (const [index, attack] of attacks.entries()) {
      say(`  ${attack.name} (${order}) …`);
      figures.push(await measure(settled, plan, order, { ...attack, attackers: registrationsOf(`attack${index}-`) }));
    }
    return figures;
  } finally {
    await settled.stop();
  }
}

function kindsOf(answersAfter: number) {
  const after = (milliseconds: number, { response }: Visit, status: number) =>
    void setTimeout(() => response.writeHead(status).end(), milliseconds);
  return {
    quick: {
      name: 'quick',
      state: 'delivered',
      results: ['delivered'],
      answer: visit => after(answersAfter, visit, 204),
    },
    failing: {
      name: 'failing once',
      state: 'delivered',
      results: ['http', 'delivered'],
      answer: visit => after(answersAfter, visit, visit.earlier === 0 ? 500 : 204),
    },
    hanging: { name: 'hanging', state: 'failed', results: ['timeout'], answer: () => undefined },
    halfHanging: {
      name: 'hanging half of the time',
      state: 'delivered',
      results: ['timeout', 'delivered'],
      answer: visit => {
        if (Math.random() < 0.5) after(answersAfter, visit, 204);
      },
    },
    almostSlow: {
      name: 'almost slow',
      state: 'delivered',
      results: ['delivered'],
      answer: visit => after(1_900, visit, 204),
    },
  } satisfies Record<string, Kind>;
}

const attacks: readonly Attack[] = [
  { name: 'always hangs, 3/s', accounts: 1, kind: 'hanging', rate: 3 },
  { name: 'hangs half of the time, 3/s', accounts: 1, kind: 'halfHanging', rate: 3 },
  { name: 'always hangs, 3/s, PUT every 2 s', accounts: 1, kind: 'hanging', rate: 3, putEvery: 2_000 },
  { name: 'always hangs, burst of 600', accounts: 1, kind: 'hanging', burst: 600 },
  { name: '12 accounts: always hangs, 1/s', accounts: 12, kind: 'hanging', rate: 1 },
  { name: 'answers in 1.9 s, 6/s', accounts: 1, kind: 'almostSlow', rate: 6 },
];

/** Has the run start the processes of the quick lanes, which do not share a processor on AWS. */
async function warmUp(settled: SettledRun, plan: IsolationPlan): Promise<void> {
  const { run, publish, registrationsOf } = settled;
  const started = (name: string) => functionProcesses(run.processId, new RegExp(`-${name}[0-9A-F]{8}$`)).length;
  const isWarm = () => started('DeliverFirst') >= plan.places.first && started('DeliverRetry') >= plan.places.retry;
  const limit = Date.now() + longestWarmUp;
  while (!isWarm() && Date.now() < limit) {
    const all = [...registrationsOf('failing'), ...registrationsOf('healthy')];
    await Promise.all(all.map(registration => publish(registration, warmUpEvents)));
    await pause(1_000);
  }
  await pause(3 * plan.wait);
}

async function measure(
  settled: SettledRun,
  plan: IsolationPlan,
  order: QueueOrder,
  attack?: Attack & { readonly attackers: readonly Registration[] },
): Promise<SituationFigures> {
  const { registrationsOf } = settled;
  const before = processorTimes();
  const length = attack?.burst === undefined ? plan.length : 3 * plan.length;
  const [quick, failing] = await Promise.all([
    publishFor(settled, registrationsOf('healthy'), plan.rate, length),
    publishFor(settled, registrationsOf('failing'), plan.rate, length),
    attack && carryOut(settled, attack, attack.attackers, length),
  ]);
  const now = processorTimes();
  const first = [...(await arrivalsOf(settled, quick, 1, plan.length))].flatMap(([id, [arrival]]) =>
    arrival === undefined ? [] : [arrival - (quick.get(id) ?? 0)],
  );
  const second = [...(await arrivalsOf(settled, failing, 2, plan.length)).values()].flatMap(([one, other]) =>
    one === undefined || other === undefined ? [] : [other - (one + plan.answersAfter + plan.wait)],
  );
  await Promise.all((attack?.attackers ?? []).map(({ remove }) => remove())); // what is waiting ends at its next turn
  return {
    order,
    situation: attack?.name ?? 'alone',
    first,
    second,
    missing: quick.size - first.length + (failing.size - second.length),
    busy: (now.atWork - before.atWork) / (now.all - before.all),
  };
}

/** An attack: accounts with a receiver of one kind each, and what is published for them. */
interface Attack {
  readonly name: string;
  readonly accounts: number;
  readonly kind: 'hanging' | 'halfHanging' | 'almostSlow';
  /** Events a second of each account; or all at once. */
  readonly rate?: number;
  readonly burst?: number;
  readonly putEvery?: number;
}

/** How long the run may take to start its processes, and events that have it start them all. */
const longestWarmUp = 120_000;
const warmUpEvents = 10;

/** Milliseconds that all processors together have been at work, and at anything at all. */
function processorTimes() {
  const times = cpus().map(cpu => cpu.times);
  const all = times.flatMap(time => Object.values(time)).reduce((sum, value) => sum + value, 0);
  return { all, atWork: all - times.reduce((sum, { idle }) => sum + idle, 0) };
}

/** Publishes events evenly, one account after the other, so many a second of each. Gives their moments. */
async function publishFor(
  { publish }: SettledRun,
  registrations: readonly Registration[],
  rate: number,
  length: number,
): Promise<Moments> {
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
}

async function carryOut(
  settled: SettledRun,
  { rate, burst = 0, putEvery }: Attack,
  attackers: readonly Registration[],
  length: number,
): Promise<void> {
  const until = Date.now() + length;
  const putAgain = async () => {
    while (putEvery !== undefined && Date.now() + putEvery < until) {
      await pause(putEvery);
      await Promise.all(attackers.map(({ replace }) => replace()));
    }
  };
  const publishBurst = async () => {
    for (const attacker of attackers) {
      const batches = Array.from({ length: burst / publishBatch }, () => settled.publish(attacker, publishBatch));
      await Promise.all(batches);
    }
  };
  await Promise.all([rate && publishFor(settled, attackers, rate, length), publishBurst(), putAgain()]);
}

/** Waits for `wanted` attempts of each event to arrive, for so long at most. Gives all arrivals, oldest first. */
async function arrivalsOf({ receivers }: SettledRun, moments: Moments, wanted: number, longest: number) {
  const limit = Date.now() + longest;
  for (;;) {
    const found = new Map([...moments.keys()].map(id => [id, [] as number[]]));
    for (const { headers, at } of receivers.arrivals) found.get(String(headers['webhook-id']))?.push(at);
    if (Date.now() > limit || [...found.values()].every(arrivals => arrivals.length >= wanted)) return found;
    await pause(200);
  }
}

/** Moments by delivery id, in milliseconds since the epoch. */
type Moments = ReadonlyMap<string, number>;

/** Messages that are published in one call. */
const publishBatch = 10;
