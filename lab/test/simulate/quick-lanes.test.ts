import { describe, expect, it } from 'vitest';
import { makeRandom } from '../../../tools/support/random.ts';
import { bounds, brokenBounds } from '../../simulate/bounds.ts';
import { grownPlaces, measure } from '../../simulate/measure.ts';
import { formerSettings, presentSettings, simulateQuickLanes } from '../../simulate/quick-lanes.ts';
import type { ServicePlan } from '../../simulate/service-plan.ts';

const places = { first: grownPlaces(50), retry: grownPlaces(20) };
const situation = { places, isFair: false, giveUp: 'waiting', countLag: 2_000 } as const;

const measureOne = (attack: string, changes: Partial<ServicePlan> = {}) => {
  const plan: ServicePlan = { ...presentSettings, ...situation, ...changes };
  const [measured] = measure({ plan, seed: 1, from: 0, attacks: [attack], attackLength: 180_000 });
  if (!measured) throw new Error(`"${attack}" was not measured.`);
  return measured;
};

/** A short `npm run simulate`: `npm test` sees it when a rule loses its effect. */
describe('attempts of healthy webhooks come no later than promised', () => {
  it.each([
    ['always hangs, 100/s', bounds.besideOne],
    ['hangs half of the time, 100/s', bounds.besideOne],
    ['name resolves in 4 s, 100/s', bounds.besideOne],
    ['always hangs, burst of 5,000', bounds.besideOne],
    ['50 accounts: always hangs, 1/s', bounds.besideMany],
    ['50 accounts: answers in 1.9 s, 100 each every 10 s', bounds.besideMany],
  ])('beside: %s', (attack, promised) => {
    const { first, retries, deadLetters } = measureOne(attack);
    expect(brokenBounds(first, promised)).toEqual([]);
    expect(brokenBounds(retries, promised)).toEqual([]);
    expect(deadLetters).toBe(0);
  });
});

/** `extra-waits.test.ts` has an input for each bound alone. */
describe('the measure can fail', () => {
  it('all three bounds, beside fifty that hang at the same moment, by the former settings and moves', () => {
    const { first } = measureOne('50 accounts: always hangs, 100 each every 10 s', formerSettings);
    expect(brokenBounds(first, bounds.besideMany)).toEqual(['p99', 'inWindow', 'p999']);
  });

  it('beside one burst of 5,000 where a message is read before its webhook’s places are asked for: ten seconds', () => {
    const { first } = measureOne('always hangs, burst of 5,000', {
      moves: 'hiddenAfterReading',
      messagesInOwnWork: 10,
    });
    expect(brokenBounds(first, bounds.besideOne)).toContain('inWindow');
  });
});

describe('20,000 events at once to a receiver that answers in 1.9 s', () => {
  const tenant = {
    account: 'one',
    webhook: 'one',
    isHealthy: true,
    publishes: new Array<number>(20_000).fill(1_000),
    behave: () => ({ resolves: 2, answers: 1_900, isSuccess: true }),
  };
  const period = { from: 0, until: 240_000 };
  const run = (changes: Partial<ServicePlan>) =>
    simulateQuickLanes({ ...presentSettings, ...situation, ...changes }, [tenant], period, makeRandom(1));

  it('all come to it, none by way of the dead-letter queue, and all are to be found soon', () => {
    const { first, deadLetters, longestUnseen } = run({});
    expect(first).toHaveLength(20_000);
    expect(deadLetters).toBe(0);
    expect(longestUnseen).toBeLessThan(20_000);
  });

  it('but would die in five processes if they were only ever hidden, so that this test can fail', () => {
    const few = { atFirst: 5, most: 5, growth: 1 };
    const { deadLetters } = run({ places: { first: few, retry: few }, receivesBeforeMove: 1_000 });
    expect(deadLetters).toBeGreaterThan(0);
  });
});
