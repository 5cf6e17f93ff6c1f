import { table } from '../bench/figures.ts';
import type { KindRow } from './audit.ts';
import type { ChaosReport } from './chaos-run.ts';
import type { Latency } from './isolation.ts';

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
  leftToSweeper: 'left to sweeper',
  lost: 'lost',
} satisfies Partial<Record<keyof KindRow, string>>;

const keys = Object.keys(columns) as (keyof typeof columns)[];

/** A share of sorted values. */
const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;

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
    ['batches handed over twice', damage.strikes.repeatedBatches ?? 0],
    ['events published twice', report.republished],
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

/** Less than this, in milliseconds, is this machine's own unrest. */
const unrest = 100;

/** The table of the isolation figures, and whether a hanging neighbour was felt. */
export const describeIsolation = (
  latencies: readonly Latency[],
): { readonly text: string; readonly isFelt: boolean } => {
  const [alone, quick, hanging] = latencies;
  const ratio = (to: Latency | undefined) => (hanging && to ? hanging.p99 / to.p99 : Number.NaN);
  const isMissed = latencies.some(({ missing }) => missing > 0);
  const limit = Math.max(alone?.p99 ?? 0, quick?.p99 ?? 0);
  const isFelt = isMissed || !hanging || (hanging.p99 > longestMove * limit && hanging.p99 > limit + unrest);
  const rows = latencies.map(({ situation, events, p50, p99, worstP99, missing }) => [
    situation,
    ...[events, p50, p99, worstP99, missing].map(String),
  ]);
  const text = [
    table(
      ['quiet accounts', 'events', 'p50, ms', 'p99, ms (median of the rounds)', 'p99, ms (worst round)', 'missing'],
      rows,
    ),
    '',
    `p99 beside a hanging neighbour: ${ratio(alone).toFixed(2)} × alone, ${ratio(quick).toFixed(2)} × beside a quick ` +
      `neighbour (target: ${longestMove}; differences below ${unrest} ms are not held against it).`,
  ].join('\n');
  return { text, isFelt };
};
