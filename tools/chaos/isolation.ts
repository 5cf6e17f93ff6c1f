import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { functionProcesses } from '../support/function-processes.ts';
import { type PreparedRun, startPreparedRun } from './prepared-run.ts';
import type { ReceiverBehaviour, Visit } from './receiver-behaviours.ts';
import { accountsOf, type Registration } from './registrations.ts';

/** The settings of an isolation measurement. Times in milliseconds. */
export interface IsolationSettings {
  /** Accounts with healthy receivers: their first attempts are measured. */
  readonly healthy: number;
  /** Accounts whose receivers fail once on every event: their second attempts are measured. */
  readonly failing: number;
  /** Events a second of each of these. */
  readonly rate: number;
  /** How long each situation lasts; beside a burst three times as long, since its effect is over in seconds. */
  readonly length: number;
  /** Batches that each lane works on at once, by the name of its stage value. */
  readonly places: Readonly<Record<'first' | 'retry' | 'slow', number>>;
  /** The deadline of an attempt. */
  readonly attemptTimeout: number;
  /** How long healthy receivers take to answer. */
  readonly answersAfter: number;
  /** The wait before the second attempt, in whole seconds, as the queue takes it. */
  readonly wait: number;
  /** How much later others may be in the 99th percentile than alone. */
  readonly longestExtra: number;
}

/** The measurements of one situation. */
export interface SituationResult {
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
export async function measureIsolation(settings: IsolationSettings, say: Say): Promise<readonly SituationResult[]> {
  const results: SituationResult[] = [];
  for (const order of queueOrders) results.push(...(await measureInOrder(order, settings, say)));
  return results;
}

/** How the local queues hand messages out; see `--queue-order`. */
type QueueOrder = (typeof queueOrders)[number];
const queueOrders = ['fair', 'arrival'] as const;

type Say = (line: string) => void;

async function measureInOrder(
  order: QueueOrder,
  settings: IsolationSettings,
  say: Say,
): Promise<readonly SituationResult[]> {
  const behaviours = behavioursOf(settings.answersAfter);
  const prepared = await startPreparedRun(
    Object.values(behaviours),
    [
      ...accountsOf('healthy', settings.healthy, behaviours.quick),
      ...accountsOf('failing', settings.failing, behaviours.failing),
      ...attacks.flatMap(({ accounts, behaviour }, index) =>
        accountsOf(`attack${index}-`, accounts, behaviours[behaviour]),
      ),
    ],
    ...['--retry-schedule', `${settings.wait / 1_000}s`, '--queue-order', order],
    ...['--set', `attemptTimeout=${settings.attemptTimeout}ms`],
    ...Object.entries(settings.places).flatMap(([lane, places]) => ['--set', `${lane}Concurrency=${places}`]),
  );
  const { registrationsOf } = prepared;
  try {
    say(`  starting processes (${order}) …`);
    await warmUp(prepared, settings);
    const results = [await measure(prepared, settings, order)];
    for (const [index, attack] of attacks.entries()) {
      say(`  ${attack.name} (${order}) …`);
      results.push(
        await measure(prepared, settings, order, { ...attack, attackers: registrationsOf(`attack${index}-`) }),
      );
    }
    return results;
  } finally {
    await prepared.stop();
  }
}

function behavioursOf(answersAfter: number) {
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
  } satisfies Record<string, ReceiverBehaviour>;
}

const attacks: readonly Attack[] = [
  { name: 'always hangs, 3/s', accounts: 1, behaviour: 'hanging', rate: 3 },
  { name: 'hangs half of the time, 3/s', accounts: 1, behaviour: 'halfHanging', rate: 3 },
  { name: 'always hangs, 3/s, PUT every 2 s', accounts: 1, behaviour: 'hanging', rate: 3, putEvery: 2_000 },
  { name: 'always hangs, burst of 600', accounts: 1, behaviour: 'hanging', burst: 600 },
  { name: '12 accounts: always hangs, 1/s', accounts: 12, behaviour: 'hanging', rate: 1 },
  { name: 'answers in 1.9 s, 6/s', accounts: 1, behaviour: 'almostSlow', rate: 6 },
];

/** Publishes until the processes of the quick lanes have started: on AWS they do not share a processor. */
async function warmUp(prepared: PreparedRun, settings: IsolationSettings): Promise<void> {
  const { run, publish, registrationsOf } = prepared;
  const started = (name: string) => functionProcesses(run.processId, new RegExp(`-${name}[0-9A-F]{8}$`)).length;
  const isWarm = () =>
    started('DeliverFirst') >= settings.places.first && started('DeliverRetry') >= settings.places.retry;
  const limit = Date.now() + longestWarmUp;
  while (!isWarm() && Date.now() < limit) {
    const all = [...registrationsOf('failing'), ...registrationsOf('healthy')];
    await Promise.all(all.map(registration => publish(registration, warmUpEvents)));
    await pause(1_000);
  }
  await pause(3 * settings.wait);
}

async function measure(
  prepared: PreparedRun,
  settings: IsolationSettings,
  order: QueueOrder,
  attack?: Attack & { readonly attackers: readonly Registration[] },
): Promise<SituationResult> {
  const { registrationsOf } = prepared;
  const before = processorTimes();
  const length = attack?.burst === undefined ? settings.length : 3 * settings.length;
  const [quick, failing] = await Promise.all([
    publishFor(prepared, registrationsOf('healthy'), settings.rate, length),
    publishFor(prepared, registrationsOf('failing'), settings.rate, length),
    attack && runAttack(prepared, attack, attack.attackers, length),
  ]);
  const now = processorTimes();
  const first = [...(await arrivalsOf(prepared, quick, 1, settings.length))].flatMap(([id, [arrival]]) =>
    arrival === undefined ? [] : [arrival - (quick.get(id) ?? 0)],
  );
  const second = [...(await arrivalsOf(prepared, failing, 2, settings.length)).values()].flatMap(([one, other]) =>
    one === undefined || other === undefined ? [] : [other - (one + settings.answersAfter + settings.wait)],
  );
  await Promise.all((attack?.attackers ?? []).map(({ remove }) => remove())); // ends what still waits
  return {
    order,
    situation: attack?.name ?? 'alone',
    first,
    second,
    missing: quick.size - first.length + (failing.size - second.length),
    busy: (now.atWork - before.atWork) / (now.all - before.all),
  };
}

/** An attack: accounts with a receiver of one behaviour each, and what is published for them. */
interface Attack {
  readonly name: string;
  readonly accounts: number;
  readonly behaviour: 'hanging' | 'halfHanging' | 'almostSlow';
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
  { publish }: PreparedRun,
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

async function runAttack(
  prepared: PreparedRun,
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
      const batches = Array.from({ length: burst / publishBatch }, () => prepared.publish(attacker, publishBatch));
      await Promise.all(batches);
    }
  };
  await Promise.all([rate && publishFor(prepared, attackers, rate, length), publishBurst(), putAgain()]);
}

/** Waits for `wanted` attempts of each event to arrive, for so long at most. Gives all arrivals, oldest first. */
async function arrivalsOf({ receivers }: PreparedRun, moments: Moments, wanted: number, longest: number) {
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
