import { markdownTable } from '../support/markdown-table.ts';
import { quantile } from '../support/statistics.ts';
import type { KindRow } from './audit.ts';
import type { ChaosReport } from './chaos-run.ts';
import type { IsolationPlan, SituationFigures } from './isolation.ts';

/** The tables of a chaos run. */
export function describeChaos(report: ChaosReport): string {
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
    markdownTable(['receiver', ...Object.values(columns)], rows),
    '',
    markdownTable(['fault', 'times'], faults),
    '',
    `${lateness.length} attempts after a wait, late by ${quantile(lateness, 0.5)} ms (median), ` +
      `${quantile(lateness, 0.99)} ms (99 %). ${report.seconds.toFixed(0)} s in all.`,
    ...(findings.length === 0 ? ['Every event is accounted for.'] : [`${findings.length} FINDINGS`]),
    ...findings.slice(0, mostFindings),
  ].join('\n');
}

/** The table of the isolation figures, and whether an attack was felt, as far as that can be told. */
export function describeIsolation(
  figures: readonly SituationFigures[],
  { healthy, failing, rate, length, places, attemptTimeout, answersAfter, longestExtra }: IsolationPlan,
): { readonly text: string; readonly isFelt: boolean } {
  const p99 = (values: readonly number[]) => quantile(values, 0.99);
  const rows = figures.map(({ order, situation, first, second, missing, busy }) => {
    const alone = figures.find(other => other.order === order && other.situation === 'alone');
    const extra = (which: 'first' | 'second') => p99(which === 'first' ? first : second) - p99(alone?.[which] ?? []);
    const isFelt = !(extra('first') <= longestExtra && extra('second') <= longestExtra) || missing > 0;
    return { order, situation, first, second, missing, busy, isFelt, extra: extra('first') };
  });
  const shown = rows.map(({ order, situation, first, second, missing, busy, isFelt, extra }) => [
    `${situation}, ${order}`,
    ...[quantile(first, 0.5), p99(first), extra, p99(second)].map(value => value.toFixed(0)),
    String(missing),
    `${(100 * busy).toFixed(0)} %`,
    isFelt ? 'FELT' : '',
  ]);
  const isBusy = rows.some(({ situation, busy }) => situation === 'alone' && busy > busiest);
  const text = [
    ...(isBusy ? ['THE MACHINE WAS TOO BUSY: these figures say nothing of isolation. Measure again.', ''] : []),
    `${Object.values(places).join(', ')} places in the first, retry and slow lane; attempts end after ${attemptTimeout} ms;`,
    `${healthy} accounts that are well, and ${failing} whose receiver fails once on every event, publish ${rate} event a second`,
    `each for ${length / 1_000} s; receivers answer after ${answersAfter} ms. Milliseconds from publishing to the arrival of`,
    'the first attempt, and by how much second attempts are late. At most',
    `${longestExtra} ms more than alone in the 99th percentile.`,
    '',
    markdownTable(['beside', 'p50', 'p99', 'more than alone', 'second attempts, p99', 'missing', 'machine', ''], shown),
  ].join('\n');
  return { text, isFelt: isBusy || rows.some(({ isFelt }) => isFelt) };
}

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

/** With more of the machine's processors at work than this, events wait for those and not for each other. */
const busiest = 0.85;
