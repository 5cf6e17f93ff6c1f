import { attemptsPerProcess, attemptsPerWebhook, giveUpAfter } from '../../lambdas/delivery/limits.ts';
import { markdownTable } from '../../tools/support/markdown-table.ts';
import { median, quantile } from '../../tools/support/statistics.ts';
import { alone, type IsolationSettings, never, type SituationResult } from './isolation.ts';
import type { QueueOrder } from './isolation-plan.ts';

/** The delays of others, over all runs of one situation in one order. Milliseconds. */
export interface JudgedSituation {
  readonly order: QueueOrder;
  readonly situation: string;
  /** Medians of the runs. */
  readonly firstP50: number;
  readonly firstP99: number;
  readonly retriesP99: number;
  readonly first: Extra;
  readonly retries: Extra;
  /** The same of the run that began with this attack, where one did. */
  readonly whenFirst: { readonly first: number; readonly retries: number } | undefined;
  /** Events that had not come when the wait for them was over, in all runs. */
  readonly missing: number;
  /** Attempts that reached the attackers' receivers, a second. */
  readonly attempts: number;
  /** Medians of the shares of the processors that were at work, on anything and for other programs. */
  readonly busy: number;
  readonly others: number;
  readonly isTooLate: boolean;
  readonly isDisturbed: boolean;
}

/**
 * Judges each situation by the median of its runs. A run's figure is how much later others were in the 99th percentile than
 * alone in that run. An event that never came is later than any bound, in whichever run.
 */
export function judgeIsolation(results: readonly SituationResult[], longestExtra: number): readonly JudgedSituation[] {
  const orders = new Set(results.map(({ order }) => order));
  const situations = new Set(results.map(({ situation }) => situation));
  return [...orders].flatMap(order =>
    [...situations].map(situation => judgeSituation(results, order, situation, longestExtra)),
  );
}

/** Returns the table of the isolation measurements, and whether an attack delayed others too long or nothing can be said. */
export function describeIsolation(
  results: readonly SituationResult[],
  settings: IsolationSettings,
): { readonly text: string; readonly isHeld: boolean } {
  const judged = judgeIsolation(results, settings.longestExtra);
  const disturbed = judged.filter(({ isDisturbed }) => isDisturbed);
  const rows = judged.map(row => [
    `${row.situation}, ${row.order}`,
    ...[row.firstP50, row.firstP99].map(whole),
    `${whole(row.first.median)} (${whole(row.first.worst)})`,
    whole(row.retriesP99),
    `${whole(row.retries.median)} (${whole(row.retries.worst)})`,
    row.whenFirst ? `${whole(row.whenFirst.first)}, ${whole(row.whenFirst.retries)}` : '',
    String(row.missing),
    row.attempts.toFixed(1),
    `${whole(100 * row.busy)} % (${whole(100 * row.others)} %)`,
    [row.isTooLate ? 'TOO LATE' : '', row.isDisturbed ? 'DISTURBED' : ''].filter(Boolean).join(', '),
  ]);
  const text = [...warningOf(disturbed), ...introduction(settings), '', markdownTable(columns, rows)].join('\n');
  return { text, isHeld: disturbed.length === 0 && judged.every(({ isTooLate }) => !isTooLate) };
}

interface Extra {
  readonly median: number;
  readonly worst: number;
}

function judgeSituation(
  results: readonly SituationResult[],
  order: QueueOrder,
  situation: string,
  longestExtra: number,
): JudgedSituation {
  const runs = results.filter(run => run.order === order && run.situation === situation);
  const extras = runs.map(run => ({ isFirst: run.isFirst, ...extraOf(run, aloneIn(results, run)) }));
  const first = summaryOf(extras.map(extra => extra.first));
  const retries = summaryOf(extras.map(extra => extra.retries));
  const missing = runs.flatMap(run => [...run.first, ...run.retries]).filter(wait => wait === never).length;
  const medianOf = (figure: (run: SituationResult) => number) => median(runs.map(figure));
  const [busy, others] = [medianOf(run => run.busy), medianOf(run => run.others)];
  return {
    order,
    situation,
    firstP50: medianOf(run => quantile(run.first, 0.5)),
    firstP99: medianOf(run => p99(run.first)),
    retriesP99: medianOf(run => p99(run.retries)),
    first,
    retries,
    whenFirst: extras.find(({ isFirst }) => isFirst),
    missing,
    attempts: medianOf(run => run.attempts),
    busy,
    others,
    isTooLate: Math.max(first.median, retries.median) > longestExtra || missing > 0,
    isDisturbed: others > mostForOthers || (situation === alone && busy > busiestAlone),
  };
}

function extraOf(run: SituationResult, beside: SituationResult | undefined): Record<'first' | 'retries', number> {
  return {
    first: laterThan(run.first, beside?.first ?? []),
    retries: laterThan(run.retries, beside?.retries ?? []),
  };
}

/** Returns the difference of the 99th percentiles. One that was not measured is later than any bound. */
function laterThan(waits: readonly number[], otherWaits: readonly number[]): number {
  const extra = p99(waits) - p99(otherWaits);
  return Number.isNaN(extra) ? never : extra;
}

function aloneIn(results: readonly SituationResult[], { order, round }: SituationResult): SituationResult | undefined {
  return results.find(other => other.order === order && other.round === round && other.situation === alone);
}

function summaryOf(extras: readonly number[]): Extra {
  return { median: median(extras), worst: Math.max(...extras) };
}

function p99(waits: readonly number[]): number {
  return quantile(waits, 0.99);
}

/** If other programs take a larger share of the processors, events wait for them and not for each other. */
const mostForOthers = 0.15;

/** The same where the machine is too small for the measured events alone. */
const busiestAlone = 0.85;

function warningOf(disturbed: readonly JudgedSituation[]): readonly string[] {
  if (disturbed.length === 0) return [];
  const most = Math.max(...disturbed.map(({ others }) => others));
  return [
    `THE MACHINE WAS TOO BUSY in ${disturbed.length} situations; other programs took up to ${whole(100 * most)} % of it.`,
    'The times of these say nothing about isolation. Measure again on a machine that does nothing else.',
    '',
  ];
}

function introduction({ places, healthy, failing, rate, ...settings }: IsolationSettings): readonly string[] {
  const { length, attemptTimeout, answersAfter, longestExtra } = settings;
  const lanes = (['first', 'retry', 'slow'] as const).map(
    lane => `${lane} lane ${places[lane]} x ${attemptsPerProcess[lane]}`,
  );
  return [
    `Processes, one batch each, and attempts of each at once: ${lanes.join(', ')}; ${attemptsPerWebhook.places} of them at one`,
    `webhook in the quick lanes. Attempts are given up there after ${giveUpAfter} ms while others wait, and end after ${attemptTimeout} ms.`,
    `${healthy} healthy accounts, and ${failing} whose receivers fail once on every event, publish ${rate} event a second each for`,
    `${length / 1_000} s; receivers answer after ${answersAfter} ms. Every attack finds the slow lane without processes.`,
    'Milliseconds from publishing to the arrival of the first attempt, and by how much retries are late; medians of the runs.',
    `The 99th percentile may be ${longestExtra} ms more than alone in the median of the runs; the worst run stands in brackets.`,
  ];
}

const columns = [
  'beside',
  'first attempts, p50',
  'p99',
  'more than alone',
  'retries late by, p99',
  'more than alone',
  'first of its run: more',
  'missing',
  'attempts at attackers a second',
  'machine busy (others)',
  '',
];

function whole(value: number): string {
  return value.toFixed(0);
}
