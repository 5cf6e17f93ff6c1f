import { markdownTable } from '../../../tools/support/markdown-table.ts';
import { makeRandom } from '../../../tools/support/random.ts';
import { brokenSlowLaneBounds, slowLaneBounds } from '../isolation/bounds.ts';
import { runInThreads } from '../run-in-threads.ts';
import { simulateLargeReceiver } from './large-receiver.ts';
import type { SlowLanePlan, SlowLaneResult } from './slow-lane.ts';
import { differences, type HoursFigures, hoursInModel } from './world-hours.ts';

/*
 * What is promised of a whole day, which no world has the time for, is shown by two models of what decides it. That of the slow lane is
 * compared with the world, an hour long.
 */

/** Shows how late a slow webhook comes beside others that hang, and how many attempts those have. Returns whether what is promised is kept. */
export async function showSlowLane(hours: number): Promise<boolean> {
  console.log(
    `\nSlow lane, by its model: ${hours} hours with all retries. One webhook answers in 3 s, twice a second; beside it others hang, some of them
only after they have answered in 2.5 s for a minute and a half.\n`,
  );
  const plans = loads.flatMap(load =>
    [true, false].map((isFair): SlowLanePlan => ({ ...rest, ...load, isFair, hours })),
  );
  const worker = new URL('./slow-lane-worker.ts', import.meta.url);
  const results = await runInThreads<SlowLanePlan, SlowLaneResult>(worker, plans, () => {});
  const judged = plans.flatMap((plan, index) => {
    const result = results[index];
    return result ? [{ plan, result, broken: brokenSlowLaneBounds(result, plan.hanging === 1) }] : [];
  });
  const rows = judged.map(({ plan: { hanging, hangingRate, hangsFrom, isFair }, result, broken }) => [
    `${hanging} at ${hangingRate}/s, ${hangsFrom > 0 ? 'after 90 s' : 'always'}, ${isFair ? 'fair' : 'in order'}`,
    `${result.bystanderP99} / ${result.bystanderLongest}`,
    `${result.mostUnderWay}, ${result.manyUnderWayFor / 1_000} s`,
    result.attempts.toLocaleString('en'),
    result.queued.toLocaleString('en'),
    result.waitingInTable.toLocaleString('en'),
    broken.length === 0 ? 'kept' : `BROKEN: ${broken}`,
  ]);
  const head = [
    'webhooks that hang',
    'bystander late by, 99th / at most, ms',
    'under way at one of them: most, over 66 for',
    'attempts',
    'in the queue',
    'in the table',
    `promised: ${Object.values(slowLaneBounds).join(' / ')}`,
  ];
  console.log(markdownTable(head, rows));
  return judged.every(({ broken }) => broken.length === 0);
}

/** Shows an hour of the slow lane, by its model and by the world. Returns whether they agree. */
export async function showHours(): Promise<boolean> {
  console.log('\nAn hour of the slow lane in order of arrival, by its model and by the world:\n');
  const plans = comparedLoads.map((load): SlowLanePlan => ({ ...rest, ...load, isFair: false, hours: 1 }));
  const worker = new URL('./world-hours-worker.ts', import.meta.url);
  const worlds = await runInThreads<SlowLanePlan, HoursFigures>(worker, plans, () => {});
  const compared = plans.flatMap((plan, index) => {
    const [model, world] = [hoursInModel(plan), worlds[index]];
    return world ? [{ plan, model, world, apart: differences(model, world) }] : [];
  });
  const figures = ['attempts', 'waitingInTable', 'mostUnderWay', 'manyUnderWayFor', 'bystanderLongest'] as const;
  const rows = compared.map(({ plan: { hanging, hangingRate, hangsFrom }, model, world, apart }) => [
    `${hanging} at ${hangingRate}/s, ${hangsFrom > 0 ? 'after 90 s' : 'always'}`,
    ...figures.map(figure => `${Math.round(model[figure])}, ${Math.round(world[figure])}`),
    apart.length === 0 ? 'yes' : `NO: ${apart}`,
  ]);
  const head = ['attempts', 'in the table', 'most under way', 'over 66 for, ms', 'bystander late by, ms'];
  console.log(markdownTable(['webhooks that hang', ...head, 'agree'], rows));
  return compared.every(({ apart }) => apart.length === 0);
}

/** Shows how often a large healthy receiver is taken for slow. Returns whether it never is. */
export function showLargeReceiver(hours: number): boolean {
  const times = [5, 20].map(processes =>
    simulateLargeReceiver({ rate: 100, slowShare: 0.001, processes, hours }, makeRandom(processes)),
  );
  console.log(
    `\nA receiver of 100 events a second answers 0.1 % of them after 2 s, for ${hours} hours: made slow ${times.join(' and ')} times.`,
  );
  return times.every(count => count === 0);
}

const rest = { places: { atFirst: 5, most: 20, growth: 5 }, bystanderRate: 2 };

const comparedLoads = [
  { hanging: 1, hangingRate: 30, hangsFrom: 90_000 },
  { hanging: 8, hangingRate: 5, hangsFrom: 0 },
];

const loads = [
  { hanging: 50, hangingRate: 1, hangsFrom: 0 },
  { hanging: 50, hangingRate: 10, hangsFrom: 0 },
  { hanging: 1, hangingRate: 30, hangsFrom: 90_000 },
  { hanging: 50, hangingRate: 10, hangsFrom: 90_000 },
  { hanging: 50, hangingRate: 30, hangsFrom: 90_000 },
];
