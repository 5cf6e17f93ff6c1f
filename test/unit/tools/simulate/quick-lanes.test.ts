import { describe, expect, it } from 'vitest';
import { type Places, type ServicePlan, simulateQuickLanes } from '../../../../tools/simulate/quick-lanes.ts';
import { healthyTenants, scenarios } from '../../../../tools/simulate/scenarios.ts';
import { makeRandom } from '../../../../tools/support/random.ts';
import { quantile } from '../../../../tools/support/statistics.ts';

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

/** A short `npm run simulate`: `npm test` sees it when a rule loses its effect. */
describe('healthy receivers wait no longer than promised', () => {
  it.each([
    ['always hangs, 100/s', 500],
    ['hangs half of the time, 100/s', 500],
    ['name resolves in 4 s, 100/s', 500],
    ['answers in 1.9 s, 100/s', 500],
    ['50 accounts: always hangs, 1/s', 1_500],
  ])('beside: %s', (attack, promised) => {
    expect(extraWait(attack, {})).toBeLessThan(promised);
  });

  it('but waited longer under the former rules, so that this test can fail', () => {
    expect(extraWait('always hangs, 100/s', { rules: 'before' }, atOnce)).toBeGreaterThan(4_000);
  });
});
