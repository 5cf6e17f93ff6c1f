import { makeRandom } from '../../../tools/support/random.ts';
import { burstsEvery } from '../isolation/arrivals.ts';
import type { SlowLaneFigures } from '../isolation/bounds.ts';
import { runTenants } from '../isolation/run-tenants.ts';
import { inOrder } from '../isolation/situations.ts';
import type { Tenant } from '../isolation/tenant.ts';
import { type SlowLanePlan, simulateSlowLane } from './slow-lane.ts';

/** What is compared of the model of the slow lane and of the world. */
export interface HoursFigures extends SlowLaneFigures {
  readonly attempts: number;
  /** Deliveries that wait in the table for a slot in the end. */
  readonly waitingInTable: number;
}

/** Runs a load of the slow lane in the world, by the product's own functions. */
export async function hoursInWorld({ hanging, hangingRate, hangsFrom, ...plan }: SlowLanePlan): Promise<HoursFigures> {
  const { bystanderRate, hours, isFair } = plan;
  const period = { from: 0, until: hours * 3_600_000 };
  const publishes = (rate: number) => burstsEvery(1_000 / rate)(period, () => 0);
  const part = { resolves: 2 };
  const tenants: Tenant[] = Array.from({ length: hanging }, (_, index) => ({
    ...{ ...part, account: `hanging-${index}`, webhook: `hanging-${index}`, part: 'attacker' },
    publishes: publishes(hangingRate),
    behave: (_random, _event, now) => ({
      answers: now < hangsFrom ? 2_500 : Number.POSITIVE_INFINITY,
      isSuccess: true,
    }),
  }));
  tenants.push({
    ...{ ...part, account: 'bystander', webhook: 'bystander', part: 'bystander' },
    publishes: publishes(bystanderRate),
    behave: () => ({ answers: 3_000, isSuccess: true }),
  });
  const result = await runTenants({ situation: { ...inOrder, isFair }, seed: 1, period, tenants });
  return { ...result.slowLane, attempts: result.slowLaneAttempts, waitingInTable: result.waitingInTable };
}

/** Runs the same load in the model. */
export function hoursInModel(plan: SlowLanePlan): HoursFigures {
  return simulateSlowLane(plan, makeRandom(1));
}

/** Returns the figures in which the model is further from the world than it may be. */
export function differences(model: HoursFigures, world: HoursFigures): (keyof HoursFigures)[] {
  const counts = (['attempts', 'waitingInTable', 'mostUnderWay'] as const).filter(
    figure => Math.abs(model[figure] - world[figure]) > farApart * world[figure],
  );
  const times = (['bystanderLongest', 'manyUnderWayFor'] as const).filter(
    figure => Math.abs(model[figure] - world[figure]) > secondsApart,
  );
  return [...counts, ...times];
}

/** A share. */
const farApart = 0.2;

/** Milliseconds. */
const secondsApart = 10_000;
