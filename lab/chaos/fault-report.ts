import { markdownTable } from '../../tools/support/markdown-table.ts';
import type { FaultReport } from './fault-run.ts';

/** Returns the tables of a run amid faults, and whether every event is accounted for. */
export function describeFaultRun({ rows, findings, injected, seconds }: FaultReport) {
  const columns = ['published', 'delivered', 'failed', 'waiting', 'requests'] as const;
  const receivers = rows.map(row => [row.behaviour, ...columns.map(column => String(row[column]))]);
  const sums = columns.map(column => String(rows.reduce((sum, row) => sum + row[column], 0)));
  const faults = { kills: injected.kills, 'kills in the middle of a batch': injected.killsAtWork, ...injected.counts };
  const text = [
    markdownTable(['receiver', ...columns], [...receivers, ['all', ...sums]]),
    '',
    markdownTable(
      ['fault', 'times'],
      Object.entries(faults).map(([what, times]) => [what, String(times)]),
    ),
    '',
    findings.length === 0
      ? `Every event is accounted for, in ${seconds.toFixed(0)} s.`
      : `${findings.length} FINDINGS in ${seconds.toFixed(0)} s`,
    ...findings.slice(0, mostFindings),
  ].join('\n');
  return { text, isHeld: findings.length === 0 };
}

/** The most findings that are printed. */
const mostFindings = 40;
