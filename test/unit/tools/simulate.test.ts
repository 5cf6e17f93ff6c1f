import { describe, expect, it } from 'vitest';
import { quantile } from '../../../tools/bench/figures.ts';
import { makeRandom } from '../../../tools/chaos/random.ts';
import { simulateLargeReceiver, simulateOutage } from '../../../tools/simulate/innocents.ts';
import { type Places, type ServicePlan, simulateQuickLanes } from '../../../tools/simulate/quick-lanes.ts';
import { healthyTenants, scenarios } from '../../../tools/simulate/scenarios.ts';
import { simulateSlowLane } from '../../../tools/simulate/slow-lane.ts';

const grown = (most: number): Places => ({ atFirst: 5, most, growth: 5 });
const atOnce = (most: number): Places => ({ atFirst: most, most, growth: 1 });

const period = { from: 0, until: 60_000 };

/** How much longer healthy first attempts wait beside an attack, in the 99th percentile, in milliseconds. */
const extraWait = (attack: string, changes: Partial<ServicePlan>, kind = grown): number => {
  const plan: ServicePlan = {
    places: { first: kind(50), retry: kind(20) },
    isFair: false,
    giveUp: 'waiting',
    countLag: 2_000,
    rules: 'present',
    ...changes,
  };
  const scenario = scenarios.find(({ name }) => name === attack);
  if (!scenario) throw new Error(`No attack is called "${attack}".`);
  const p99 = (attackers: ReturnType<typeof scenario.tenants>) => {
    const tenants = [...healthyTenants(period, makeRandom(1)), ...attackers];
    return quantile(simulateQuickLanes(plan, tenants, period, makeRandom(2)).first, 0.99);
  };
  return p99(scenario.tenants(period, makeRandom(3))) - p99([]);
};

/** `npm run simulate` in small: a rule that loses its effect is seen by `npm test`. */
describe('others wait no longer than promised', () => {
  it.each([
    ['always hangs, 100/s', 500],
    ['hangs half of the time, 100/s', 500],
    ['name resolves in 4 s, 100/s', 500],
    ['answers in 1.9 s, 100/s', 500],
    ['50 accounts: always hangs, 1/s', 1_500],
  ])('beside: %s', (attack, promised) => {
    expect(extraWait(attack, {})).toBeLessThan(promised);
  });

  it('which the rules before did not keep, so that the simulation can fail', () => {
    expect(extraWait('always hangs, 100/s', { rules: 'before' }, atOnce)).toBeGreaterThan(4_000);
  });
});

describe('the slow lane', () => {
  it('attempts an innocent slow webhook at once beside fifty that hang', () => {
    const plan = { places: grown(20), isFair: false, hanging: 50, hangingRate: 10, innocentRate: 2, hours: 0.25 };
    const { innocentLongest, queued, waitingInTable } = simulateSlowLane(plan, makeRandom(1));
    expect(innocentLongest).toBeLessThan(30_000);
    expect(queued).toBeLessThan(1_000);
    expect(waitingInTable).toBeGreaterThan(300_000); // in the table, and not in the queue
  });
});

describe('a large receiver that is well', () => {
  it('is never slow for one slow answer in a thousand', () => {
    expect(simulateLargeReceiver({ rate: 100, slowShare: 0.001, processes: 10, hours: 2 }, makeRandom(1))).toBe(0);
  });

  it('has nothing waiting ten minutes after it hung for one', () => {
    const { quickAfter, emptyAfter, waited } = simulateOutage(100, makeRandom(1));
    expect(waited).toBeGreaterThan(5_000);
    expect(quickAfter).toBeGreaterThanOrEqual(60_000);
    expect(emptyAfter).toBeLessThan(600_000);
  });
});
