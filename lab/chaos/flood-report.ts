import type { PostOutcome } from '../../lambdas/platform/egress/guarded-post.ts';
import { markdownTable } from '../../tools/support/markdown-table.ts';
import { quantile } from '../../tools/support/statistics.ts';
import { type FloodResult, floodRun, laterOf } from './floods.ts';

/** Returns the table of the floods, and whether none of them costs too much. */
export function describeFloods(results: readonly FloodResult[]) {
  const { posts, every, floods, pause, attempts, longestExtra, mostCpu, mostFirstCpu } = floodRun;
  const findings = results.flatMap(findingsOf);
  const isBusy = results.some(({ alone }) => quantile(alone, 0.99) > busiest);
  const text = [
    ...(isBusy ? ['THE MACHINE WAS TOO BUSY: these times say nothing about floods. Measure again.', ''] : []),
    `Healthy POSTs of one process, ${posts} alone and ${posts} beside ${floods} receivers that flood, one each ${every} ms, over`,
    `new and kept connections in turn. Floods run at full speed, and each is begun anew ${pause} ms after it has ended. *CPU* is that`,
    `of an attempt at the receiver beyond a healthy one: of the first, and the mean of ${attempts} in a row.`,
    `At most: ${longestExtra} ms later in the 99th percentile, ${mostCpu} ms of CPU in the mean, ${mostFirstCpu} for the first.`,
    '',
    markdownTable(
      ['flood', 'alone: p50, p99, ms', 'beside: p50, p99, ms', 'CPU: first, mean, ms', 'how its attempts ended'],
      results.map(({ name, alone, beside, firstCpu, cpu, ends }) => [
        name,
        ...[alone, beside].map(times => [0.5, 0.99].map(share => quantile(times, share).toFixed(1)).join(', ')),
        `${firstCpu.toFixed(1)}, ${cpu.toFixed(1)}`,
        [...Map.groupBy(ends, describeEnd)].map(([end, { length }]) => `${length} × ${end}`).join(', '),
      ]),
    ),
    '',
    ...(findings.length === 0 ? ['Nobody is held up.'] : [`${findings.length} FINDINGS`, ...findings]),
  ].join('\n');
  return { text, isHeld: !isBusy && findings.length === 0 };
}

function findingsOf(result: FloodResult): string[] {
  const { longestExtra, mostCpu, mostFirstCpu, deadline } = floodRun;
  const { name, firstCpu, cpu, unanswered, ends } = result;
  const later = laterOf(result);
  const isUncharged = ends.some(
    ({ outcome, durationMs }) => outcome === 'internal_error' || outcome === 'given_up' || durationMs > deadline + 100,
  );
  return [
    ...(later > longestExtra ? [`${name}: healthy POSTs were ${later.toFixed(1)} ms later.`] : []),
    ...(cpu > mostCpu ? [`${name}: an attempt cost ${cpu.toFixed(1)} ms of CPU more.`] : []),
    ...(firstCpu > mostFirstCpu ? [`${name}: the first attempt cost ${firstCpu.toFixed(1)} ms of CPU more.`] : []),
    ...(unanswered > 0 ? [`${name}: ${unanswered} healthy POSTs got no answer.`] : []),
    ...(isUncharged ? [`${name}: an attempt was not charged, or outlasted its deadline.`] : []),
  ];
}

function describeEnd(outcome: PostOutcome): string {
  if (outcome.outcome === 'response') return `response ${outcome.status}`;
  return 'errorCode' in outcome ? `${outcome.outcome}: ${outcome.errorCode}` : outcome.outcome;
}

/** If healthy POSTs alone take longer in the 99th percentile, they wait for the machine. In milliseconds. */
const busiest = 25;
