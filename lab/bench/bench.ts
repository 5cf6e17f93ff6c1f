/** Implements `npm run bench`, which measures the size and cost of the functions and writes docs/performance.md. See `options.ts`. */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { markdownTable } from '../../tools/support/markdown-table.ts';
import { git, root } from '../checkout.ts';
import { runProgram } from '../program.ts';
import { measureAgainst } from './against.ts';
import { measureBundles } from './bundles.ts';
import { measureBursts } from './bursts.ts';
import { measureCalls } from './calls.ts';
import { measureDelivery } from './delivery.ts';
import { measureFloods } from './floods.ts';
import { type BenchOptions, type PartName, partNames, readOptions, usage } from './options.ts';
import {
  bundleRows,
  burstRows,
  callRows,
  deliveryRows,
  floodRows,
  pageOf,
  type Row,
  serviceRows,
  tableOf,
} from './report.ts';
import { measureService } from './service.ts';

const pageFile = join(root, 'docs/performance.md');

/** The numbers of rounds and requests in each part. */
const sizes = {
  full: {
    calls: { rounds: 5, perRound: 9_000 },
    coldRuns: 15,
    requests: 100,
    delivery: { rounds: 5, batches: 20, warmUp: 40 },
    bursts: [{ events: 2_000, rate: 100 }, { events: 2_000 }, { events: 8_000 }],
    floods: { rounds: 3, posts: 200 },
    roundsAgainst: 5,
  },
  quick: {
    calls: { rounds: 1, perRound: 600 },
    coldRuns: 1,
    requests: 20,
    delivery: { rounds: 2, batches: 4, warmUp: 4 },
    bursts: [{ events: 100, rate: 100 }, { events: 500 }],
    floods: { rounds: 1, posts: 20 },
    roundsAgainst: 1,
  },
};

/** The result of a part, and its rows in the table. */
interface PartResult {
  readonly result: unknown;
  readonly rows: readonly Row[];
}

type Progress = (label: string) => void;

const measure: Readonly<Record<PartName, (size: typeof sizes.full, progress: Progress) => Promise<PartResult>>> = {
  calls: async ({ calls }) => withRows(await measureCalls(calls.rounds, calls.perRound), callRows),
  bundles: async ({ coldRuns }, progress) => withRows(measureBundles(coldRuns, progress), bundleRows),
  service: async ({ requests }) => withRows(await measureService(requests), serviceRows),
  delivery: async ({ delivery }, progress) => withRows(await measureDelivery(delivery, progress), deliveryRows),
  bursts: async ({ bursts }, progress) => withRows(await measureBursts(bursts, progress), burstRows),
  floods: async ({ floods }, progress) => withRows(await measureFloods(floods, progress), floodRows),
};

await runProgram(usage, readOptions, main);

async function main(options: BenchOptions): Promise<boolean> {
  const size = options.quick ? sizes.quick : sizes.full;
  if (options.against === undefined) await measureParts(options, size);
  else showAgainst(options.against, options, size.roundsAgainst);
  return true;
}

function showAgainst(commit: string, { parts, quick }: BenchOptions, rounds: number): void {
  const comparisons = measureAgainst(commit, quick ? ['--quick', ...parts] : parts, rounds);
  const rows = comparisons.map(({ figure, current, base, ratio }) => [
    figure,
    ...[current, base, ratio].map(value => value.toFixed(2)),
  ]);
  console.log(markdownTable(['figure', 'working tree', commit, 'ratio'], rows));
}

async function measureParts({ parts, json, quick }: BenchOptions, size: typeof sizes.full): Promise<void> {
  const start = performance.now();
  const progress: Progress = label => {
    const seconds = (performance.now() - start) / 1_000;
    console.error(`${seconds.toFixed(0).padStart(4)} s  ${label}`);
  };
  const results = new Map<PartName, PartResult>();
  for (const part of parts) {
    progress(part);
    results.set(part, await measure[part](size, label => progress(`  ${label}`)));
  }
  progress('done');
  const rows = [...results.values()].flatMap(({ rows }) => rows);
  console.log(json ? JSON.stringify(describeRun(quick, results)) : tableOf(rows));
  if (json || quick || parts.length < partNames.length) return;
  writeFileSync(pageFile, pageOf(new Date().toISOString().slice(0, 10), rows));
  console.error('Wrote docs/performance.md.');
}

function withRows<Result>(result: Result, rowsOf: (result: Result) => readonly Row[]): PartResult {
  return { result, rows: rowsOf(result) };
}

/** Returns the object that `--json` prints. */
function describeRun(quick: boolean, results: ReadonlyMap<PartName, PartResult>) {
  return {
    commit: git('describe', '--always', '--dirty', '--exclude=*'),
    node: process.version,
    processors: cpus().map(({ model }) => model.trim()),
    quick,
    ...Object.fromEntries([...results].map(([part, { result }]) => [part, result])),
  };
}
