import { markdownTable } from '../../tools/support/markdown-table.ts';
import { makeRandom } from '../../tools/support/random.ts';
import { brokenSlowLaneBounds, slowLaneBounds } from './bounds.ts';
import { simulateLargeReceiver, simulateOutage } from './healthy-receivers.ts';
import { grownPlaces } from './measure.ts';
import { presentSettings, simulateQuickLanes } from './quick-lanes.ts';
import { runInThreads } from './run-in-threads.ts';
import type { SlowLanePlan, SlowLaneResult } from './slow-lane.ts';

/** Shows how late a slow webhook comes beside others that hang, and how many attempts those have. Returns whether what is promised is kept. */
export async function showSlowLane(hours: number): Promise<boolean> {
  console.log(
    `\nSlow lane: ${hours} hours with all retries. One webhook answers in 3 s, twice a second; beside it others hang, some of them
only after they have answered in 2.5 s for a minute and a half.\n`,
  );
  const plans = loads.flatMap(load =>
    [true, false].map(
      (isFair): SlowLanePlan => ({ places: grownPlaces(20), isFair, ...load, bystanderRate: 2, hours }),
    ),
  );
  const worker = new URL('./slow-lane-worker.ts', import.meta.url);
  const results = await runInThreads<SlowLanePlan, SlowLaneResult>(worker, plans, () => {});
  const broken = results.map((result, index) => brokenSlowLaneBounds(plans[index] as SlowLanePlan, result));
  const rows = results.map((result, index) => {
    const { hanging, hangingRate, hangsFrom, isFair } = plans[index] as SlowLanePlan;
    return [
      `${hanging} at ${hangingRate}/s, ${hangsFrom > 0 ? 'after 90 s' : 'always'}, ${isFair ? 'fair' : 'in order'}`,
      `${result.bystanderP99} / ${result.bystanderLongest}`,
      `${result.mostUnderWay}, ${result.manyUnderWayFor / 1_000} s`,
      result.attempts.toLocaleString('en'),
      result.queued.toLocaleString('en'),
      result.waitingInTable.toLocaleString('en'),
      broken[index]?.length === 0 ? 'kept' : `MISSED: ${broken[index]}`,
    ];
  });
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
  return broken.every(bounds => bounds.length === 0);
}

const loads = [
  { hanging: 50, hangingRate: 1, hangsFrom: 0 },
  { hanging: 50, hangingRate: 10, hangsFrom: 0 },
  { hanging: 1, hangingRate: 30, hangsFrom: 90_000 },
  { hanging: 50, hangingRate: 10, hangsFrom: 90_000 },
  { hanging: 50, hangingRate: 30, hangsFrom: 90_000 },
];

/** Shows what befalls receivers that are slow through no fault of theirs. Returns whether what is promised is kept. */
export function showHealthyReceivers(): boolean {
  const slowTimes = [5, 20].map(processes =>
    simulateLargeReceiver({ rate: 100, slowShare: 0.001, processes, hours: 6 }, makeRandom(processes)),
  );
  const outage = simulateOutage(100, makeRandom(1));
  const cold = coldStarts();
  const rows = [
    ['100 events a second, 0.1 % over 2 s, 6 hours: made slow', slowTimes.join(' and '), '0'],
    ['the same after hanging for a minute: nothing waits after, s', (outage.emptyAfter / 1_000).toFixed(), '600'],
    ['  the most that waited at once', String(outage.waited), ''],
    ['3 s after a cold start, once in 30 s: events sent twice', String(cold), '0'],
  ];
  console.log('\nHealthy receivers:\n');
  console.log(markdownTable(['receiver', 'figure', 'promised'], rows));
  return slowTimes.every(times => times === 0) && outage.emptyAfter <= promisedAfterOutage && cold === 0;
}

const promisedAfterOutage = 10 * 60_000;

/** Attempts beyond the first at a receiver that starts cold on a quiet day. */
function coldStarts(): number {
  const publishes = Array.from({ length: 6 }, (_, index) => index * 30_000);
  let attempts = 0;
  const tenant = {
    account: 'cold',
    webhook: 'cold',
    isHealthy: false,
    publishes,
    behave: () => {
      attempts += 1;
      return { resolves: 2, answers: 3_000, isSuccess: true };
    },
  };
  const places = { first: grownPlaces(50), retry: grownPlaces(20) };
  const plan = { ...presentSettings, places, isFair: true, giveUp: 'waiting', countLag: 2_000 } as const;
  simulateQuickLanes(plan, [tenant], { from: 0, until: 180_000 }, makeRandom(1));
  return attempts - publishes.length;
}
