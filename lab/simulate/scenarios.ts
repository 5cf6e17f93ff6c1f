import { replaySlotInterval } from '../../lambdas/delivery/limits.ts';
import type { Random } from '../../tools/support/random.ts';
import type { Period } from './quick-lanes.ts';
import type { Behaviour, Tenant } from './service-plan.ts';

/** An attack on the quick lanes: tenants that begin to publish with the measured period. */
export interface Scenario {
  readonly name: string;
  /** Accounts that take part. */
  readonly accounts: number;
  /** Nothing is promised with provisioned pollers where the bursts are those of 500 events a second, or more, for minutes. */
  readonly isPromisedWhenProvisioned: boolean;
  readonly tenants: (period: Period, random: Random) => Tenant[];
}

/** Returns the accounts beside which attacks are measured. One event in twenty fails once, so that there are retries to measure. */
export function healthyTenants({ until }: Period, random: Random): Tenant[] {
  return Array.from({ length: healthyAccounts }, (_, index) => ({
    account: `healthy-${index}`,
    webhook: `healthy-${index}`,
    isHealthy: true,
    publishes: arrivals(healthyRate, 0, until, random),
    behave: (draw, { attempt, number }) => ({ ...quick(draw), isSuccess: attempt > 1 || number % 20 !== index }),
  }));
}

const healthyAccounts = 20;
const healthyRate = 5;

const hanging: Behaviour = { resolves: 2, answers: Number.POSITIVE_INFINITY, isSuccess: false };

/** Moments of one webhook's events. */
type Publishes = (period: Period, random: Random) => number[];

const atRate =
  (rate: number): Publishes =>
  ({ from, until }, random) =>
    arrivals(rate, from, until, random);

const atOnce =
  (events: number): Publishes =>
  ({ from }) =>
    new Array(events).fill(from + 1);

const everyTenSeconds =
  (events: number): Publishes =>
  ({ from, until }) =>
    bursts(from, until, 10_000).flatMap(moment => new Array<number>(events).fill(moment));

const behaviours = {
  'always hangs': () => hanging,
  'hangs half of the time': random => (random() < 0.5 ? hanging : quick(random)),
  'answers in 1.9 s': () => ({ resolves: 2, answers: 1_900, isSuccess: true }),
  'name resolves in 4 s': () => ({ resolves: 4_000, answers: 50, isSuccess: true }),
} satisfies Record<string, Tenant['behave']>;

/** All attacks. */
export const scenarios: readonly Scenario[] = [
  ...Object.entries(behaviours).flatMap(([name, behave]) => [
    scenario(`${name}, 10/s`, 1, atRate(10), behave),
    scenario(`${name}, 100/s`, 1, atRate(100), behave),
    scenario(`${name}, burst of 5,000`, 1, atOnce(5_000), behave),
    scenario(`50 accounts: ${name}, 1/s`, 50, atRate(1), behave),
  ]),
  ...(['always hangs', 'answers in 1.9 s'] as const).flatMap(name => [
    scenario(`50 accounts: ${name}, 100 each every 10 s`, 50, everyTenSeconds(100), behaviours[name]),
    beyondProvisioned(scenario(`${name}, 5,000 every 10 s`, 1, everyTenSeconds(5_000), behaviours[name])),
  ]),
  beyondProvisioned(scenario('50 accounts: fails at once, 100 each every 10 s', 50, everyTenSeconds(100), failsAtOnce)),
  scenario('50 accounts: answers in 100 ms, 100 each every 10 s', 50, everyTenSeconds(100), answersIn100ms),
  ...(['always hangs', 'answers in 1.9 s'] as const).map(name => tenReplays(name)),
  scenario('always hangs, 30/s, PUT every 2 s', 1, atRate(30), behaviours['always hangs'], { putEvery: 2_000 }),
  scenario('fails at once, hangs after 70 s, 100/s', 1, atRate(100), failsThenHangs),
  scenario('50 accounts: fails at once, hangs after 70 s, 1/s', 50, atRate(1), failsThenHangs),
  scenario('answers in 2.5 s, hangs after 90 s, 100/s', 1, atRate(100), answersThenHangs),
  scenario('50 accounts: answers in 2.5 s, hangs after 90 s, 1/s', 50, atRate(1), answersThenHangs),
  scenario('name in 1.9 s, stalls in TLS, 100/s', 1, atRate(100), slowNameThenHangs),
  scenario('50 accounts: name in 1.9 s, stalls in TLS, 1/s', 50, atRate(1), slowNameThenHangs),
  {
    name: '96 accounts: one event that hangs, once a minute',
    accounts: 96,
    isPromisedWhenProvisioned: true,
    tenants: ({ from, until }) =>
      Array.from({ length: 96 }, (_, index) => ({
        ...attacker(index),
        publishes: bursts(from, until, 60_000),
        behave: behaviours['always hangs'],
      })),
  },
  {
    name: '8 webhooks of one account: always hangs, 625 each every 10 s',
    accounts: 1,
    isPromisedWhenProvisioned: false,
    tenants: (period, random) =>
      Array.from({ length: 8 }, (_, index) => ({
        ...attacker(index),
        account: 'attacker',
        publishes: everyTenSeconds(625)(period, random),
        behave: behaviours['always hangs'],
      })),
  },
];

function scenario(
  name: string,
  accounts: number,
  publishes: Publishes,
  behave: Tenant['behave'],
  more: Pick<Tenant, 'putEvery'> = {},
): Scenario {
  return {
    name,
    accounts,
    isPromisedWhenProvisioned: true,
    tenants: (period, random) =>
      Array.from({ length: accounts }, (_, index) => ({
        ...attacker(index),
        ...more,
        publishes: publishes(period, random),
        behave: (draw, event, now) => behave(draw, event, now - period.from),
      })),
  };
}

/** Makes ten replays, as an operator's replay of all accounts does. It is held to what is promised beside one account. */
function tenReplays(name: keyof typeof behaviours): Scenario {
  const one = scenario(`10 replays at once: ${name}`, 10, everyReplaySlot, behaviours[name]);
  return {
    ...one,
    accounts: 1,
    tenants: (period, random) => one.tenants(period, random).map(tenant => ({ ...tenant, isReplayed: true })),
  };
}

function everyReplaySlot({ from, until }: Period): number[] {
  return bursts(from, until, replaySlotInterval);
}

function beyondProvisioned(attack: Scenario): Scenario {
  return { ...attack, isPromisedWhenProvisioned: false };
}

function attacker(index: number): Pick<Tenant, 'account' | 'webhook' | 'isHealthy'> {
  return { account: `attacker-${index}`, webhook: `attacker-${index}`, isHealthy: false };
}

function failsAtOnce(): Behaviour {
  return { resolves: 2, answers: 20, isSuccess: false };
}

function answersIn100ms(): Behaviour {
  return { resolves: 2, answers: 100, isSuccess: true };
}

/** A minute of failures moves its first attempts to the retry lane. */
function failsThenHangs(_random: Random, _event: object, now: number): Behaviour {
  return now < 70_000 ? failsAtOnce() : hanging;
}

/** The pace of the slow lane is another from then on. */
function answersThenHangs(_random: Random, _event: object, now: number): Behaviour {
  return now < 90_000 ? { resolves: 2, answers: 2_500, isSuccess: true } : hanging;
}

function slowNameThenHangs(): Behaviour {
  return { ...hanging, resolves: 1_900 };
}

function bursts(from: number, until: number, every: number): number[] {
  return Array.from({ length: Math.ceil((until - from) / every) }, (_, index) => from + 1 + index * every);
}

/** Returns the moments of events that come independently of each other, `rate` a second. */
function arrivals(rate: number, from: number, until: number, random: Random): number[] {
  const moments: number[] = [];
  for (let moment = from; ; ) {
    moment += (-Math.log(1 - random()) * 1_000) / rate;
    if (moment >= until) return moments;
    moments.push(moment);
  }
}

function quick(random: Random): Behaviour {
  return { resolves: 2, answers: 20 + 80 * random(), isSuccess: true };
}
