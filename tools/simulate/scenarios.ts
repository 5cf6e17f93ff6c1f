import type { Random } from '../support/random.ts';
import type { Behaviour, Period, Tenant } from './quick-lanes.ts';

/** An attack on the quick lanes: tenants that begin to publish with the measured period. */
export interface Scenario {
  readonly name: string;
  /** Accounts that take part. */
  readonly accounts: number;
  readonly tenants: (period: Period, random: Random) => Tenant[];
}

/** The accounts beside which attacks are measured. */
export function healthyTenants({ until }: Period, random: Random): Tenant[] {
  return Array.from({ length: healthyAccounts }, (_, index) => ({
    account: `healthy-${index}`,
    isHealthy: true,
    publishes: arrivals(healthyRate, 0, until, random),
    behave: (draw, attempt) => ({ ...quick(draw), isSuccess: attempt > 1 || draw() >= failingOnce }),
  }));
}

const burst = 5_000;

const hanging: Behaviour = { resolves: 2, answers: Number.POSITIVE_INFINITY, isSuccess: false };

const behaviours = {
  'always hangs': () => hanging,
  'hangs half of the time': (random: Random) => (random() < 0.5 ? hanging : quick(random)),
  'answers in 1.9 s': () => ({ resolves: 2, answers: 1_900, isSuccess: true }),
  'name resolves in 4 s': () => ({ resolves: 4_000, answers: 50, isSuccess: true }),
} satisfies Record<string, (random: Random) => Behaviour>;

/** All attacks. */
export const scenarios: readonly Scenario[] = Object.entries(behaviours)
  .flatMap(([behaviour, behave]): Scenario[] => {
    const attackers = (count: number, rate: number) => (period: Period, random: Random) =>
      Array.from({ length: count }, (_, index) => ({
        account: `attacker-${index}`,
        isHealthy: false,
        publishes: arrivals(rate, period.from, period.until, random),
        behave,
      }));
    return [
      { name: `${behaviour}, 10/s`, accounts: 1, tenants: attackers(1, 10) },
      { name: `${behaviour}, 100/s`, accounts: 1, tenants: attackers(1, 100) },
      {
        name: `${behaviour}, burst of 5,000`,
        accounts: 1,
        tenants: ({ from }) => [
          { account: 'attacker-0', isHealthy: false, publishes: new Array(burst).fill(from + 1), behave },
        ],
      },
      { name: `50 accounts: ${behaviour}, 1/s`, accounts: 50, tenants: attackers(50, 1) },
    ];
  })
  .concat({
    name: 'always hangs, 30/s, PUT every 2 s',
    accounts: 1,
    tenants: ({ from, until }, random) => [
      {
        account: 'attacker-0',
        isHealthy: false,
        publishes: arrivals(30, from, until, random),
        behave: behaviours['always hangs'],
        putEvery: 2_000,
      },
    ],
  });

const healthyAccounts = 20;

/** Moments of events that come independently of each other, so many a second. */
function arrivals(rate: number, from: number, until: number, random: Random): number[] {
  const moments: number[] = [];
  for (let moment = from; ; ) {
    moment += (-Math.log(1 - random()) * 1_000) / rate;
    if (moment >= until) return moments;
    moments.push(moment);
  }
}

const healthyRate = 5;

function quick(random: Random): Behaviour {
  return { resolves: 2, answers: 20 + 80 * random(), isSuccess: true };
}

/** Healthy attempts that fail once at random, so that there are retries to measure. */
const failingOnce = 0.05;
