import { markdownTable } from '../../../tools/support/markdown-table.ts';
import { runInThreads } from '../run-in-threads.ts';
import { minute } from '../times.ts';
import { brokenSlowLaneBounds, slowLaneBounds } from './bounds.ts';
import { inOrder } from './plan.ts';
import { type RunResult, runTenants } from './run-tenants.ts';
import { burstsEvery, type Tenant } from './tenant.ts';

/** Webhooks that hang for hours, with all retries that fall due meanwhile. */
interface SlowLaneLoad {
  readonly hanging: number;
  /** Events a second of each. */
  readonly rate: number;
  /** Until then they answer in 2.5 s, in milliseconds from the beginning. */
  readonly hangsFrom: number;
  readonly hours: number;
}

/** Shows hours of the slow lane, beside a webhook that is slow through no fault of its own. Returns whether what is promised is kept. */
export async function showSlowLane(hours: number): Promise<boolean> {
  console.log(
    `\n${hours} hours of the slow lane in order of arrival. A webhook answers in 3 s, twice a second; beside it others hang.\n`,
  );
  const plans = loads.map((load): SlowLaneLoad => ({ ...load, hours }));
  const module = new URL('./slow-lane-hours.ts', import.meta.url);
  const results = await runInThreads<SlowLaneLoad, RunResult>(module, 'runSlowLane', plans);
  const judged = results.map(({ slowLane }, index) => brokenSlowLaneBounds(slowLane, plans[index]?.hanging === 1));
  const rows = plans.flatMap(({ hanging, rate, hangsFrom }, index) => {
    const [result, broken = []] = [results[index], judged[index]];
    if (!result) return [];
    const { bystanderLongest, mostUnderWay, manyUnderWayFor } = result.slowLane;
    return [
      [
        `${hanging} at ${rate}/s, ${hangsFrom > 0 ? 'after 90 s' : 'always'}`,
        `${Math.round(bystanderLongest)}`,
        `${mostUnderWay}, ${manyUnderWayFor / 1_000} s`,
        ...[result.slowLaneAttempts, result.waitingInTable].map(count => count.toLocaleString('en')),
        broken.length === 0 ? 'kept' : `BROKEN: ${broken}`,
      ],
    ];
  });
  const head = [
    'webhooks that hang',
    '3-s webhook late by, ms',
    'at one of them: most, over 66 for',
    'attempts',
    'in the table',
  ];
  console.log(markdownTable([...head, `promised: ${Object.values(slowLaneBounds).join(' / ')}`], rows));
  return judged.every(broken => broken.length === 0);
}

/** Runs a load of the slow lane, by the product's own functions. */
export function runSlowLane({ hanging, rate, hangsFrom, hours }: SlowLaneLoad): Promise<RunResult> {
  const period = { from: 0, until: hours * 60 * minute };
  const publishes = (perSecond: number) => burstsEvery(1_000 / perSecond)(period, () => 0);
  const tenants = Array.from(
    { length: hanging },
    (_, index): Tenant => ({
      ...{ account: `hanging-${index}`, webhook: `hanging-${index}`, part: 'attacker', resolves: 2 },
      publishes: publishes(rate),
      behave: (_random, _event, now) => ({
        answers: now < hangsFrom ? 2_500 : Number.POSITIVE_INFINITY,
        isSuccess: true,
      }),
    }),
  );
  const bystander: Tenant = {
    ...{ account: 'bystander', webhook: 'bystander', part: 'bystander', resolves: 2 },
    publishes: publishes(2),
    behave: () => ({ answers: 3_000, isSuccess: true }),
  };
  return runTenants({ situation: inOrder, seed: 1, period, tenants: [...tenants, bystander] });
}

/** Each of some hundred thousand events an hour, for which a thread has the memory. */
const loads = [
  { hanging: 1, rate: 30, hangsFrom: 90_000 },
  { hanging: 50, rate: 0.5, hangsFrom: 0 },
  { hanging: 50, rate: 0.5, hangsFrom: 90_000 },
];
