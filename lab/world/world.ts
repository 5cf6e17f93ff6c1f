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
 * `npm run world`: runs delivery and the token endpoints with the product's own functions in virtual time, one world
 * per kind and seed, and judges whether every promise is met. Exits with 1 if one is broken; see `options.ts`. With
 * `--isolation`: attacks on delivery, see `isolation/options.ts`.
 */

/** The maximum length of a trace line, in characters. */
const maxLine = 600;

/** The nouns for requests and results of each kind of world. */
const doings = {
  delivery: { asked: 'events', done: 'POSTs' },
  tokens: { asked: 'requests', done: 'grants' },
} as const;

if (process.argv.includes('--isolation')) await runProgram(isolationUsage, readIsolationOptions, showIsolation);
else await runProgram(usage, readOptions, main);

/** Runs the worlds. Returns whether every guarantee is met. */
async function main({ seeds, kinds, faultClass, trace, gate }: WorldOptions): Promise<boolean> {
  const drawn = kinds.flatMap(kind =>
    seeds.map(seed => ({ kind, seed, faultClass: faultClass ?? classOf(seed), trace })),
  );
  const jobs: readonly SeedJob[] = gate ? [...readFoundSeeds(), ...drawn] : drawn;
  const module = new URL('./run-world.ts', import.meta.url);
  const reports = await runInThreads<SeedJob, SeedReport>(module, 'reportWorld', jobs, done => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${jobs.length} worlds`);
  });
  if (process.stderr.isTTY) process.stderr.write('\n');
  for (const report of reports) show(report, seeds.length === 1);
  showFigures(reports);
  const broken = reports.filter(({ violations }) => violations.length > 0);
  console.log(broken.length === 0 ? '\nEvery promise is kept.' : `\nA promise is broken by ${listed(broken)}.`);
  return broken.length === 0;
}

function listed(reports: readonly SeedReport[]): string {
  return reports.map(({ kind, seed }) => `${kind} ${seed}`).join(', ');
}

function show(report: SeedReport, isOnly: boolean): void {
  const { violations, traced, trace } = report;
  if (isOnly) console.log(describe(report));
  if (violations.length > 0) showViolations(report, traced);
  for (const { at, kind, text, detail } of trace) {
    console.log(`${new Date(at).toISOString().slice(11)} ${kind} ${`${text} ${detail}`.slice(0, maxLine)}`);
  }
}

type Figures = Omit<SeedReport, 'trace' | 'traced'>;

/** Returns the fault class of a seed. The classes alternate. */
function classOf(seed: number): FaultClass {
  return faultClasses[seed % faultClasses.length] ?? 'calm';
}

function describe({ kind, seed, faultClass, asked, done, deaths, worstLateness, cpu, digest }: Figures): string {
  const [did, late] = [doings[kind], Math.round(worstLateness / 1_000)];
  return `Seed ${seed}, ${kind}, ${faultClass}: ${asked} ${did.asked}, ${done} ${did.done}, ${deaths} deaths, overdue by at most ${late} s, ${cpu.toFixed(1)} s, ${digest}`;
}

function showViolations(result: Figures, shown: string | undefined): void {
  console.log(`\n${describe(result)}`);
  for (const { what, about = '' } of result.violations.slice(0, 20)) console.log(`  ${what} ${about}`);
  const traced = shown === undefined ? '' : ` --trace ${shown}`;
  console.log(`npm run world -- --kind ${result.kind} --seed ${result.seed} --class ${result.faultClass}${traced}\n`);
}

function showFigures(results: readonly Figures[]): void {
  const rows = allKinds.flatMap(kind =>
    faultClasses.flatMap(faultClass => {
      const some = results.filter(result => result.kind === kind && result.faultClass === faultClass);
      return some.length === 0 ? [] : [[kind, faultClass, ...figuresOf(some)].map(String)];
    }),
  );
  const head = ['kind', 'class', 'seeds', 'events, requests', 'POSTs, grants', 'deaths', 'latest, s', 'CPU, s'];
  console.log(markdownTable(head, rows));
}

function figuresOf(some: readonly Figures[]): readonly (number | string)[] {
  const sum = (of: (result: Figures) => number) => some.reduce((total, result) => total + of(result), 0);
  return [
    some.length,
    sum(({ asked }) => asked),
    sum(({ done }) => done),
    sum(({ deaths }) => deaths),
    Math.round(Math.max(...some.map(({ worstLateness }) => worstLateness)) / 1_000),
    sum(({ cpu }) => cpu).toFixed(1),
  ];
}
