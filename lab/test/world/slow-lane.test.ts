import { describe, expect, it } from 'vitest';
import { makeRandom } from '../../../tools/support/random.ts';
import { type SlowLanePlan, simulateSlowLane } from '../../world/day/slow-lane.ts';
import { brokenSlowLaneBounds } from '../../world/isolation/bounds.ts';

const places = { atFirst: 5, most: 20, growth: 5 };
const rest = { places, isFair: false, bystanderRate: 2 };

describe('the slow lane keeps what is promised', () => {
  it('beside fifty that hang: what is beyond their pace waits in the table, and not in the queue', () => {
    const plan: SlowLanePlan = { ...rest, hanging: 50, hangingRate: 10, hangsFrom: 0, hours: 0.25 };
    const result = simulateSlowLane(plan, makeRandom(1));
    expect(brokenSlowLaneBounds(result, false)).toEqual([]);
    expect(result.queued).toBeLessThan(1_000);
    expect(result.waitingInTable).toBeGreaterThan(300_000);
  });

  // 300 attempts were under way at one of them, and the bystander came 50 s late beside fifty.
  it.each([
    [1, 30],
    [50, 10],
    [50, 30],
  ])('beside %i that answer in 2.5 s and then hang, at %i/s', (hanging, hangingRate) => {
    const plan: SlowLanePlan = { ...rest, hanging, hangingRate, hangsFrom: 90_000, hours: 0.075 };
    expect(brokenSlowLaneBounds(simulateSlowLane(plan, makeRandom(1)), hanging === 1)).toEqual([]);
  });
});
