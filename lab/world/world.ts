import { markdownTable } from '../../tools/support/markdown-table.ts';
import { type FaultClass, faultClasses } from './fault-classes.ts';
import { foundBefore, readFoundSeeds } from './gate.ts';
import { readOptions, usage, type WorldOptions } from './options.ts';
import { runSeeds, type SeedJob, type SeedReport } from './run-seeds.ts';

/*
 * `npm run world`: runs delivery by the product's own functions in virtual time, a world for each seed, and judges whether every
 * promise is kept. Ends with 1 if one is broken; see `options.ts`.
 */

/** The characters of a line of a trace. */
const longestLine = 600;

const options = readOrExit();
if (options.help) console.log(usage);
else process.exitCode = (await main(options)) ? 0 : 1;

function readOrExit(): WorldOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}

/** Runs the seeds. Returns whether every promise is kept. */
async function main({ seeds, faultClass, trace, gate }: WorldOptions): Promise<boolean> {
  const drawn = seeds.map(seed => ({ seed, faultClass: faultClass ?? classOf(seed), trace }));
  const jobs: readonly SeedJob[] = gate ? [...readFoundSeeds(), ...drawn] : drawn;
  const reports = await runSeeds(jobs, done => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${jobs.length} seeds`);
  });
  if (process.stderr.isTTY) process.stderr.write('\n');
  for (const report of reports) show(report, seeds.length === 1);
  showFigures(reports);
  const broken = reports.filter(({ violations }) => violations.length > 0);
  const found = gate ? foundBefore(broken) : [];
  if (found.length > 0) {
    console.log(`\nFound, and broken before this change: seed ${listed(found)}. They are in found-seeds.json now.`);
  }
  const made = broken.filter(report => !found.includes(report));
  console.log(made.length === 0 ? '\nEvery promise is kept.' : `\nA promise is broken by seed ${listed(made)}.`);
  return made.length === 0;
}

function listed(reports: readonly SeedReport[]): string {
  return reports.map(({ seed }) => seed).join(', ');
}

function show(report: SeedReport, isOnly: boolean): void {
  const { violations, traced, trace } = report;
  if (isOnly) console.log(describe(report));
  if (violations.length > 0) showViolations(report, traced);
  for (const { at, kind, text, detail } of trace) {
    console.log(`${new Date(at).toISOString().slice(11)} ${kind} ${`${text} ${detail}`.slice(0, longestLine)}`);
  }
}

type Figures = Omit<SeedReport, 'trace' | 'traced'>;

/** The classes take turns. */
function classOf(seed: number): FaultClass {
  return faultClasses[seed % faultClasses.length] ?? 'calm';
}

function describe({ seed, faultClass, events, posts, deaths, worstLateness, cpu, digest }: Figures): string {
  const late = Math.round(worstLateness / 1_000);
  return `Seed ${seed}, ${faultClass}: ${events} events, ${posts} POSTs, ${deaths} deaths, late by ${late} s at most, ${cpu.toFixed(1)} s, ${digest}`;
}

function showViolations(result: Figures, deliveryId: string | undefined): void {
  console.log(`\n${describe(result)}`);
  for (const { what, deliveryId: id = '' } of result.violations.slice(0, 20)) console.log(`  ${what} ${id}`);
  const traced = deliveryId === undefined ? '' : ` --trace ${deliveryId}`;
  console.log(`npm run world -- --seed ${result.seed} --class ${result.faultClass}${traced}\n`);
}

function showFigures(results: readonly Figures[]): void {
  const rows = faultClasses.flatMap(name => {
    const some = results.filter(({ faultClass }) => faultClass === name);
    const sum = (of: (result: Figures) => number) => some.reduce((total, result) => total + of(result), 0);
    const latest = Math.round(Math.max(...some.map(({ worstLateness }) => worstLateness)) / 1_000);
    const row = [
      name,
      some.length,
      sum(({ events }) => events),
      sum(({ posts }) => posts),
      sum(({ deaths }) => deaths),
    ];
    return some.length === 0 ? [] : [[...row, latest, sum(({ cpu }) => cpu).toFixed(1)].map(String)];
  });
  console.log(markdownTable(['class', 'seeds', 'events', 'POSTs', 'deaths', 'latest, s', 'CPU, s'], rows));
}
