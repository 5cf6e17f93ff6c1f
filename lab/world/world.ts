import { markdownTable } from '../../tools/support/markdown-table.ts';
import { runProgram } from '../program.ts';
import { type FaultClass, faultClasses } from './fault-classes.ts';
import { readFoundSeeds } from './gate.ts';
import { showIsolation } from './isolation/isolation.ts';
import { isolationUsage, readIsolationOptions } from './isolation/options.ts';
import { readOptions, usage, type WorldOptions } from './options.ts';
import { runInThreads } from './run-in-threads.ts';
import type { SeedJob, SeedReport } from './run-world.ts';
import { kinds as allKinds } from './world-result.ts';

/**
 * Implements `npm run world`, which runs one world per kind and seed and checks the service's guarantees. See `options.ts`.
 * With `--isolation`, runs attacks on delivery instead. See `isolation/options.ts`.
 */

/** The maximum length of a trace line, in characters. */
const maxLine = 600;

/** The names of the counts `requestCount` and `successCount` for each kind of world. */
const countNames = {
  delivery: { requestCount: 'events', successCount: 'POSTs' },
  tokens: { requestCount: 'requests', successCount: 'grants' },
} as const;

if (process.argv.includes('--isolation')) await runProgram(isolationUsage, readIsolationOptions, showIsolation);
else await runProgram(usage, readOptions, main);

/** Runs the selected worlds and prints the results. Returns whether all guarantees are met. */
async function main({ seeds, kinds, faultClass, trace, gate }: WorldOptions): Promise<boolean> {
  const selected = kinds.flatMap(kind =>
    seeds.map(seed => ({ kind, seed, faultClass: faultClass ?? classOf(seed), trace })),
  );
  const jobs: readonly SeedJob[] = gate ? [...readFoundSeeds(), ...selected] : selected;
  const module = new URL('./run-world.ts', import.meta.url);
  const reports = await runInThreads<SeedJob, SeedReport>(module, 'reportWorld', jobs, done => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${jobs.length} worlds`);
  });
  if (process.stderr.isTTY) process.stderr.write('\n');
  for (const report of reports) show(report, seeds.length === 1);
  showFigures(reports);
  const failed = reports.filter(({ violations }) => violations.length > 0);
  console.log(failed.length === 0 ? '\nAll guarantees are met.' : `\nGuarantees are violated in ${namesOf(failed)}.`);
  return failed.length === 0;
}

function namesOf(reports: readonly SeedReport[]): string {
  return reports.map(({ kind, seed }) => `${kind} ${seed}`).join(', ');
}

function show(report: SeedReport, isOnly: boolean): void {
  const { violations, tracedId, trace } = report;
  if (isOnly) console.log(describe(report));
  if (violations.length > 0) showViolations(report, tracedId);
  for (const { at, kind, text, detail } of trace) {
    console.log(`${new Date(at).toISOString().slice(11)} ${kind} ${`${text} ${detail}`.slice(0, maxLine)}`);
  }
}

type Figures = Omit<SeedReport, 'trace' | 'tracedId'>;

/** Returns the fault class of a seed. The classes alternate. */
function classOf(seed: number): FaultClass {
  return faultClasses[seed % faultClasses.length] ?? 'none';
}

function describe({ kind, seed, faultClass, cpu, digest, ...counts }: Figures): string {
  const { requestCount, successCount, crashes, maxOverdueMs } = counts;
  const [names, overdue] = [countNames[kind], Math.round(maxOverdueMs / 1_000)];
  return `Seed ${seed}, ${kind}, ${faultClass}: ${requestCount} ${names.requestCount}, ${successCount} ${names.successCount}, ${crashes} crashes, overdue by at most ${overdue} s, CPU ${cpu.toFixed(1)} s, digest ${digest}`;
}

function showViolations(result: Figures, tracedId: string | undefined): void {
  console.log(`\n${describe(result)}`);
  for (const { message, subjectId = '' } of result.violations.slice(0, 20)) console.log(`  ${message} ${subjectId}`);
  const option = tracedId === undefined ? '' : ` --trace ${tracedId}`;
  console.log(`npm run world -- --kind ${result.kind} --seed ${result.seed} --class ${result.faultClass}${option}\n`);
}

function showFigures(results: readonly Figures[]): void {
  const rows = allKinds.flatMap(kind =>
    faultClasses.flatMap(faultClass => {
      const group = results.filter(result => result.kind === kind && result.faultClass === faultClass);
      return group.length === 0 ? [] : [[kind, faultClass, ...figuresOf(group)].map(String)];
    }),
  );
  const head = ['kind', 'class', 'seeds', 'events, requests', 'POSTs, grants', 'crashes', 'max. overdue, s', 'CPU, s'];
  console.log(markdownTable(head, rows));
}

function figuresOf(group: readonly Figures[]): readonly (number | string)[] {
  const sum = (figure: (result: Figures) => number) => group.reduce((total, result) => total + figure(result), 0);
  return [
    group.length,
    sum(({ requestCount }) => requestCount),
    sum(({ successCount }) => successCount),
    sum(({ crashes }) => crashes),
    Math.round(Math.max(...group.map(({ maxOverdueMs }) => maxOverdueMs)) / 1_000),
    sum(({ cpu }) => cpu).toFixed(1),
  ];
}
