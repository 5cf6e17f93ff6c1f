import { quantile, table } from '../bench/figures.ts';
import type { KindRow } from './audit.ts';
import type { ChaosReport } from './chaos-run.ts';
import type { IsolationPlan, SituationFigures, Spread, Waits } from './isolation.ts';

const columns = {
  published: 'published',
  delivered: 'delivered',
  failed: 'failed',
  held: 'held',
  cancelled: 'cancelled',
  unstored: 'not stored',
  requests: 'requests',
  duplicates: 'duplicates',
  ownFaults: 'own faults',
  waitingOut: 'waiting them out',
  leftToSweeper: 'left to sweeper',
  lost: 'lost',
} satisfies Partial<Record<keyof KindRow, string>>;

const keys = Object.keys(columns) as (keyof typeof columns)[];

/** What of the findings is printed. */
const mostFindings = 40;

/** The tables of a chaos run. */
export const describeChaos = (report: ChaosReport): string => {
  const total = keys.map(key => report.rows.reduce((sum, row) => sum + row[key], 0));
  const rows = [
    ...report.rows.map(row => [row.kind, ...keys.map(key => String(row[key]))]),
    ['all', ...total.map(String)],
  ];
  const { damage, lateness, findings } = report;
  const faults = [
    ['processes killed', damage.kills],
    ['… of them in the middle of a batch', damage.killsAtWork],
    ['requests to tables throttled', damage.strikes.throttledReadsAndWrites ?? 0],
    ['messages refused by a queue', damage.strikes.refusedSends ?? 0],
    ['requests to KMS throttled', damage.strikes.throttledKeyUses ?? 0],
    ['requests to KMS failed', damage.strikes.failedKeyUses ?? 0],
    ['… attempts kept from being made by these', damage.keptByKms],
    ['notifications failed', damage.strikes.failedNotifications ?? 0],
    ['… suspensions announced all the same', report.announced],
    ['batches handed over twice', damage.strikes.repeatedBatches ?? 0],
    ['events published twice', report.republished],
    ['attempts left to the slow lane', damage.movedToSlowLane],
    ['messages that are no events', report.malformed],
    ['… of them in the dead-letter queue', report.deadLettered],
  ].map(([what, count]) => [String(what), String(count)]);
  return [
    table(['receiver', ...Object.values(columns)], rows),
    '',
    table(['fault', 'times'], faults),
    '',
    `${lateness.length} attempts after a wait, late by ${quantile(lateness, 0.5)} ms (median), ` +
      `${quantile(lateness, 0.99)} ms (99 %). ${report.seconds.toFixed(0)} s in all.`,
    ...(findings.length === 0 ? ['Every event is accounted for.'] : [`${findings.length} FINDINGS`]),
    ...findings.slice(0, mostFindings),
  ].join('\n');
};

/** A hanging neighbour may move the others' p99 by this much. */
const longestMove = 1.2;

/** With more of the machine's processors at work than this, events wait for those and not for each other. */
const busiest = 0.85;

const describeSpread = ({ median, least, most }: Spread): string =>
  `${median.toFixed(0)} (${least.toFixed(0)} to ${most.toFixed(0)})`;

const describeWaits = (waits: Waits): string[] => [
  String(waits.events),
  describeSpread(waits.p50),
  describeSpread(waits.p99),
  String(waits.missing),
];

/** The tables of the isolation figures, and whether a hanging neighbour was felt, as far as that can be told. */
export const describeIsolation = (
  figures: readonly SituationFigures[],
  { quiet, rate, failing, failingRate, places, answersAfter, wait }: IsolationPlan,
): { readonly text: string; readonly isFelt: boolean } => {
  const [quick, hanging] = figures;
  const ratio = (which: 'first' | 'second', receiver: number) => {
    const p99 = (figures?: SituationFigures) => (figures?.[which].p99.median ?? Number.NaN) + receiver;
    return p99(hanging) / p99(quick);
  };
  const describeRatios = (which: 'first' | 'second') =>
    `p99 beside a hanging neighbour, until the receiver has answered: ${ratio(which, answersAfter).toFixed(2)} × beside a ` +
    `quick one (target: at most ${longestMove}); until the attempt arrives: ${ratio(which, 0).toFixed(2)} ×.`;
  const isMissed = figures.some(({ first, second }) => first.missing + second.missing > 0);
  const head = ['events', 'p50, ms', 'p99, ms', 'missing'];
  const beside = ({ situation }: SituationFigures) => `beside a ${situation} neighbour`;
  const isBusy = figures.some(({ busy }) => busy > busiest);
  const text = [
    ...(isBusy ? ['THE MACHINE WAS TOO BUSY: these figures say nothing of isolation. Measure again.', ''] : []),
    `${places} places in each lane; receivers answer after ${answersAfter} ms. Medians of the rounds, and their spread.`,
    '',
    `${quiet} accounts that are well, and their neighbour, publish ${rate} events a second each: from publishing an event to ` +
      'the arrival of its first attempt.',
    '',
    table(
      ['first attempts', ...head, 'machine at work'],
      figures.map(figure => [beside(figure), ...describeWaits(figure.first), `${(100 * figure.busy).toFixed(0)} %`]),
    ),
    '',
    describeRatios('first'),
    '',
    `${failing} accounts whose receivers fail once on every event publish ${failingRate} event a second each: by how much ` +
      `its second attempt arrives after it was due, ${wait / 1_000} s after the first.`,
    '',
    table(
      ['second attempts', ...head],
      figures.map(figure => [beside(figure), ...describeWaits(figure.second)]),
    ),
    '',
    describeRatios('second'),
  ].join('\n');
  const isNear = (which: 'first' | 'second') => ratio(which, answersAfter) <= longestMove;
  return { text, isFelt: isBusy || isMissed || !(isNear('first') && isNear('second')) };
};
