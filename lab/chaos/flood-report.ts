import { markdownTable } from '../../tools/support/markdown-table.ts';
import { quantile } from '../../tools/support/statistics.ts';
import { type FloodReport, type FloodResult, type FloodSettings, laterOf } from './floods.ts';

/** Returns the tables of the floods, and whether none of them costs too much. */
export function describeFloods(
  { results, unlimited, costs }: FloodReport,
  settings: FloodSettings,
): { readonly text: string; readonly isHeld: boolean } {
  const { posts, every, floods, pause, attempts, longestExtra, mostCpu, mostFirstCpu } = settings;
  const findings = results.flatMap(result => findingsOf(result, settings));
  const isBusy = results.some(({ alone }) => quantile(alone, 0.99) > busiest);
  const rows = [...results, ...unlimited.map(result => ({ ...result, name: `(${result.name})` }))];
  const text = [
    ...(isBusy ? ['THE MACHINE WAS TOO BUSY: these times say nothing about floods. Measure again.', ''] : []),
    `Healthy POSTs of one process, ${posts} alone and ${posts} beside ${floods} receivers that flood, one each ${every} ms, over`,
    `new and kept connections in turn. Floods run at full speed, and each is begun anew ${pause} ms after it has ended. *CPU* is that`,
    `of an attempt at the receiver beyond a healthy one: of the first, and the mean of ${attempts} in a row.`,
    `At most: ${longestExtra} ms later in the 99th percentile, ${mostCpu} ms of CPU in the mean, ${mostFirstCpu} for the first; what stands in brackets is not judged.`,
    '',
    markdownTable(
      [
        'flood',
        'alone: p50, p99, ms',
        'beside: p50, p99, ms',
        'later, p99',
        'CPU: first, mean, ms',
        'how its attempts ended',
        'longest, ms',
      ],
      rows.map(result => [
        result.name,
        percentiles(result.alone),
        percentiles(result.beside),
        laterOf(result).toFixed(1),
        `${result.firstCpu.toFixed(1)}, ${result.cpu.toFixed(1)}`,
        [...result.ends].map(([end, count]) => `${count} × ${end}`).join(', '),
        result.longest.toFixed(0),
      ]),
    ),
    '',
    markdownTable(
      ['a healthy POST', 'CPU with the meter, ms', 'without, ms', 'ratio'],
      costs.map(({ what, metered, plain, ratio }) => [what, metered.toFixed(3), plain.toFixed(3), ratio.toFixed(2)]),
    ),
    '',
    ...(findings.length === 0 ? ['Nobody is held up.'] : [`${findings.length} FINDINGS`, ...findings]),
  ].join('\n');
  return { text, isHeld: !isBusy && findings.length === 0 };
}

function findingsOf(result: FloodResult, { longestExtra, mostCpu, mostFirstCpu }: FloodSettings): string[] {
  const { name, firstCpu, cpu, unanswered, isCharged } = result;
  const later = laterOf(result);
  return [
    ...(later > longestExtra ? [`${name}: healthy POSTs were ${later.toFixed(1)} ms later.`] : []),
    ...(cpu > mostCpu ? [`${name}: an attempt cost ${cpu.toFixed(1)} ms of CPU more.`] : []),
    ...(firstCpu > mostFirstCpu ? [`${name}: the first attempt cost ${firstCpu.toFixed(1)} ms of CPU more.`] : []),
    ...(unanswered > 0 ? [`${name}: ${unanswered} healthy POSTs got no answer.`] : []),
    ...(isCharged ? [] : [`${name}: an attempt was not charged, or outlasted its deadline.`]),
  ];
}

function percentiles(times: readonly number[]): string {
  return [0.5, 0.99].map(share => quantile(times, share).toFixed(1)).join(', ');
}

/** If healthy POSTs alone take longer in the 99th percentile, they wait for the machine. In milliseconds. */
const busiest = 25;
