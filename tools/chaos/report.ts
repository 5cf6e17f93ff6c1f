import { markdownTable } from '../support/markdown-table.ts';
import { quantile } from '../support/statistics.ts';
import type { ReceiverRow } from './audit.ts';
import type { ChaosReport } from './chaos-run.ts';
import type { IsolationSettings, SituationResult } from './isolation.ts';

/** The tables of a chaos run. */
export function describeChaos(report: ChaosReport): string {
  const total = keys.map(key => report.rows.reduce((sum, row) => sum + row[key], 0));
  const rows = [
    ...report.rows.map(row => [row.behaviour, ...keys.map(key => String(row[key]))]),
    ['all', ...total.map(String)],
  ];
  const { injected, lateness, findings } = report;
  const faults = [
    ['processes killed', injected.kills],
    ['… of them in the middle of a batch', injected.killsAtWork],
    ['requests to tables throttled', injected.counts.throttledReadsAndWrites ?? 0],
    ['messages refused by a queue', injected.counts.refusedSends ?? 0],
    ['requests to KMS throttled', injected.counts.throttledKeyUses ?? 0],
    ['requests to KMS failed', injected.counts.failedKeyUses ?? 0],
    ['… attempts kept from being made by these', injected.keptByKms],
    ['notifications failed', injected.counts.failedNotifications ?? 0],
    ['… suspensions announced all the same', report.announced],
    ['batches handed over twice', injected.counts.repeatedBatches ?? 0],
    ['events published twice', report.republished],
    ['attempts left to the slow lane', injected.movedToSlowLane],
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

/** The table of the isolation measurements, and whether an attack delayed others too long. */
export function describeIsolation(
  results: readonly SituationResult[],
  { healthy, failing, rate, length, places, attemptTimeout, answersAfter, longestExtra }: IsolationSettings,
): { readonly text: string; readonly isTooLate: boolean } {
  const p99 = (values: readonly number[]) => quantile(values, 0.99);
  const rows = results.map(({ order, situation, first, second, missing, busy }) => {
    const alone = results.find(other => other.order === order && other.situation === 'alone');
    const extra = (which: 'first' | 'second') => p99(which === 'first' ? first : second) - p99(alone?.[which] ?? []);
    const isTooLate = !(extra('first') <= longestExtra && extra('second') <= longestExtra) || missing > 0;
    return { order, situation, first, second, missing, busy, isTooLate, extra: extra('first') };
  });
  const shown = rows.map(({ order, situation, first, second, missing, busy, isTooLate, extra }) => [
    `${situation}, ${order}`,
    ...[quantile(first, 0.5), p99(first), extra, p99(second)].map(value => value.toFixed(0)),
    String(missing),
    `${(100 * busy).toFixed(0)} %`,
    isTooLate ? 'TOO LATE' : '',
  ]);
  const isBusy = rows.some(({ situation, busy }) => situation === 'alone' && busy > busiest);
  const text = [
    ...(isBusy ? ['THE MACHINE WAS TOO BUSY: these times say nothing about isolation. Measure again.', ''] : []),
    `${Object.values(places).join(', ')} places in the first, retry and slow lane; attempts end after ${attemptTimeout} ms;`,
    `${healthy} healthy accounts, and ${failing} whose receiver fails once on every event, publish ${rate} event a second`,
    `each for ${length / 1_000} s; receivers answer after ${answersAfter} ms. Milliseconds from publishing to the arrival of`,
    'the first attempt, and by how much second attempts are late. At most',
    `${longestExtra} ms more than alone in the 99th percentile.`,
    '',
    markdownTable(['beside', 'p50', 'p99', 'more than alone', 'second attempts, p99', 'missing', 'machine', ''], shown),
  ].join('\n');
  return { text, isTooLate: isBusy || rows.some(({ isTooLate }) => isTooLate) };
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
  internalErrors: 'internal errors',
  delayed: 'waiting after these',
  leftToSweeper: 'left to sweeper',
  lost: 'lost',
} satisfies Partial<Record<keyof ReceiverRow, string>>;

const keys = Object.keys(columns) as (keyof typeof columns)[];

/** So many findings are printed. */
const mostFindings = 40;

/** If a larger share of the processors is at work, events wait for the machine and not for each other. */
const busiest = 0.85;
