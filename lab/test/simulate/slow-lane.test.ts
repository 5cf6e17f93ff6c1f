import { expect, it } from 'vitest';
import { makeRandom } from '../../../tools/support/random.ts';
import { simulateSlowLane } from '../../simulate/slow-lane.ts';

it('the slow lane attempts a slow webhook at once beside fifty that hang', () => {
  const places = { atFirst: 5, most: 20, growth: 5 };
  const plan = { places, isFair: false, hanging: 50, hangingRate: 10, bystanderRate: 2, hours: 0.25 };
  const { bystanderLongest, queued, waitingInTable } = simulateSlowLane(plan, makeRandom(1));
  expect(bystanderLongest).toBeLessThan(30_000);
  expect(queued).toBeLessThan(1_000);
  expect(waitingInTable).toBeGreaterThan(300_000); // in the table, and not in the queue
});
