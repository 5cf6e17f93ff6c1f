import { markdownTable } from '../../tools/support/markdown-table.ts';
import { quantile } from '../../tools/support/statistics.ts';
import type { ReceiverRow } from './audit.ts';
import type { ChaosReport } from './chaos-run.ts';

/** Returns the tables of a chaos run. */
export function describeChaos(report: ChaosReport): string {
  const total = keys.map(key => report.rows.reduce((sum, row) => sum + row[key], 0));
  const rows = [
    ...report.rows.map(row => [row.behaviour, ...keys.map(key => String(row[key]))]),
    ['all', ...total.map(String)],
  ];
  const { injected, lateness, mostLate, findings } = report;
  const latest = lateness.at(-1) ?? 0;
  const seconds = (milliseconds: number) => `${Math.ceil(milliseconds / 1_000)} s`;
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
    `${lateness.length} attempts, late by ${quantile(lateness, 0.5)} ms (median), ` +
      `${quantile(lateness, 0.99)} ms (99 %). ${report.seconds.toFixed(0)} s in all.`,
    latest <= mostLate
      ? `Nobody waited over ${seconds(mostLate)}: the latest attempt was late by ${seconds(latest)}.`
      : `${lateness.filter(late => late > mostLate).length} ATTEMPTS WERE OVER ${seconds(mostLate)} LATE, the latest by ${seconds(latest)}.`,
    ...(findings.length === 0 ? ['Every event is accounted for.'] : [`${findings.length} FINDINGS`]),
    ...findings.slice(0, mostFindings),
  ].join('\n');
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

/** The most findings that are printed. */
const mostFindings = 40;
