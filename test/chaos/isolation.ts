import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from '../bench/figures.ts';
import { startLocalRun } from '../support/local-run.ts';
import type { Kind } from './kinds.ts';
import { type AccountPlan, hostOf, type Registration, settle } from './population.ts';
import { functionProcesses } from './processes.ts';
import { publishEvents, queuesOf } from './publisher.ts';
import { startReceivers } from './receivers.ts';

/** How isolation is measured. Times in milliseconds. */
export interface IsolationPlan {
  /** Accounts whose receivers answer at once; what is measured is their events. */
  readonly quiet: number;
  /** Events a second of each account, whatever its receiver does. */
  readonly rate: number;
  /** How long each situation lasts. */
  readonly length: number;
  /** Each situation is measured so many times, in turn: what else the machine does then meets all of them. */
  readonly rounds: number;
}

/** From publishing an event to its first attempt's arrival, in milliseconds. */
export interface Latency {
  readonly situation: string;
  readonly events: number;
  readonly p50: number;
  /** The round in the middle: what else the machine did in one round does not decide. */
  readonly p99: number;
  /** The worst round. */
  readonly worstP99: number;
  /** Events that had not arrived when the situation was over and as much time again had passed. */
  readonly missing: number;
}

type Say = (line: string) => void;

const situations = ['alone', 'beside a quick neighbour', 'beside a hanging neighbour'] as const;
type Situation = (typeof situations)[number];

/** An attempt's deadline, as it is in production. */
const deadline = 15_000;

const kinds: readonly Kind[] = [
  {
    name: 'quick',
    state: 'entregue',
    results: ['entregue'],
    answer: ({ response }) => void response.writeHead(204).end(),
  },
  { name: 'hanging', state: 'falhou', results: ['tempo_esgotado'], answer: () => undefined },
  {
    name: 'slow',
    state: 'entregue',
    results: ['entregue'],
    answer: ({ response }) => void setTimeout(() => response.writeHead(204).end(), 1_500),
  },
  {
    name: 'failing once',
    state: 'entregue',
    results: ['http', 'entregue'],
    answer: ({ response, earlier }) => void response.writeHead(earlier === 0 ? 500 : 204).end(),
  },
];

/** Batches of first attempts that stage `local` has under way at once. */
const places = 16;

/** Bursts of slow events, as long as they make the run start more processes. Enough for all places at once. */
const mostBursts = 8;
const burstLength = 10 * places;

const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
};

/**
 * Measures what a hanging receiver does to the accounts beside it: how long their events take from publishing to their first
 * attempt, alone, beside one more account that is well (what its load alone does), and beside one whose receiver never
 * answers, from its first event on. Every round has a neighbour of its own that nothing is known of.
 */
export const measureIsolation = async (plan: IsolationPlan, say: Say): Promise<readonly Latency[]> => {
  const receivers = await startReceivers(kinds);
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-isolation-'));
  const hostsFile = path.join(folder, 'hosts.json');
  const [quick, hanging, slow, failing] = kinds as [Kind, Kind, Kind, Kind];
  const accounts = (prefix: string, count: number, kind: Kind): readonly AccountPlan[] =>
    Array.from({ length: count }, (_, index) => ({ account: `${prefix}${index}`, kinds: [kind] }));
  const plans = [
    ...accounts('quiet', plan.quiet, quick),
    ...accounts('quick', plan.rounds, quick),
    ...accounts('hanging', plan.rounds, hanging),
    ...accounts('slow', 1, slow),
    ...accounts('failing', 1, failing),
  ];
  const hosts = plans.map(({ account }) => [hostOf(account, 0), `http://127.0.0.1:${receivers.port}`]);
  writeFileSync(hostsFile, JSON.stringify(Object.fromEntries(hosts)));
  const run = await startLocalRun('--hosts', hostsFile).catch(error => {
    receivers.stop();
    throw error;
  });
  const sqs = queuesOf(run.outputs);
  let nextId = 1;

  const publish = async (registration: Registration): Promise<readonly [string, number]> => {
    nextId += 1;
    const at = Date.now();
    const [event] = await publishEvents(sqs, run.outputs, [registration], nextId, () => false);
    return [event?.deliveryId ?? '', at];
  };

  /** Publishes each account's events evenly, one account after the other. Gives the moments of the measured ones. */
  const publishFor = async (measured: readonly Registration[], others: readonly Registration[]) => {
    const all = [...measured, ...others];
    const sent: Promise<readonly [string, number]>[] = [];
    const start = Date.now();
    const total = Math.round((plan.length / 1_000) * plan.rate * all.length);
    for (let index = 0; index < total; index++) {
      await pause(Math.max(0, start + (plan.length * index) / total - Date.now()));
      const registration = all[index % all.length] as Registration;
      const publishing = publish(registration);
      if (measured.includes(registration)) sent.push(publishing);
      else publishing.catch(() => undefined);
    }
    return new Map(await Promise.all(sent));
  };

  /** Waits for the events to arrive, and gives each one's latency. */
  const latencies = async (moments: ReadonlyMap<string, number>): Promise<readonly number[]> => {
    const limit = Date.now() + plan.length;
    const arrived = () => {
      const found = new Map<string, number>();
      for (const { headers, at } of receivers.arrivals) {
        const id = String(headers['webhook-id']);
        if (moments.has(id) && !found.has(id)) found.set(id, at);
      }
      return found;
    };
    while (arrived().size < moments.size && Date.now() < limit) await pause(100);
    const found = arrived();
    return [...moments].flatMap(([id, at]) => {
      const arrival = found.get(id);
      return arrival === undefined ? [] : [arrival - at];
    });
  };

  try {
    const registrations = await settle(run.outputs, plans, receivers.pathOf);
    const of = (prefix: string) => registrations.filter(({ account }) => account.startsWith(prefix));
    // What is measured is who waits for whom, not how long processes take to start: on AWS they do not share a processor.
    const [slowOne, failingOne] = [...of('slow'), ...of('failing')] as [Registration, Registration];
    say('  starting processes …');
    for (let burst = 0; burst < mostBursts; burst++) {
      await latencies(new Map(await Promise.all(Array.from({ length: burstLength }, () => publish(slowOne)))));
      if (functionProcesses(run.processId, /-Deliver[0-9A-F]{8}$/).length >= places) break;
    }
    await Promise.all(Array.from({ length: 20 }, () => publish(failingOne)));
    await publishFor(of('quiet'), []);

    const measured = new Map<Situation, { readonly rounds: (readonly number[])[]; missing: number }>(
      situations.map(situation => [situation, { rounds: [], missing: 0 }]),
    );
    for (let round = 0; round < plan.rounds; round++) {
      const order = round % 2 === 0 ? situations : situations.toReversed();
      for (const situation of order) {
        const neighbours = { alone: '', 'beside a quick neighbour': 'quick', 'beside a hanging neighbour': 'hanging' };
        const neighbour = neighbours[situation];
        say(`  ${situation}, round ${round + 1} …`);
        const moments = await publishFor(of('quiet'), neighbour === '' ? [] : of(`${neighbour}${round}`));
        const found = await latencies(moments);
        const sum = measured.get(situation);
        sum?.rounds.push(found);
        if (sum) sum.missing += moments.size - found.length;
        if (situation === 'beside a hanging neighbour') await pause(deadline); // until its attempts have ended
      }
    }
    return situations.map(situation => {
      const { rounds = [], missing = 0 } = measured.get(situation) ?? {};
      const all = rounds.flat();
      const p99s = rounds.map(round => quantile(round, 0.99));
      const [p50, p99, worstP99] = [quantile(all, 0.5), median(p99s), Math.max(...p99s)];
      return { situation, events: all.length, p50, p99, worstP99, missing };
    });
  } finally {
    sqs.destroy();
    await run.stop();
    receivers.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};
