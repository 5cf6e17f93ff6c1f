/** `npm run bench`: measures the size and cost of the functions and writes docs/performance.md; see `options.ts`. */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { markdownTable } from '../../tools/support/markdown-table.ts';
import { git, root } from '../checkout.ts';
import { runProgram } from '../program.ts';
import { measureAgainst } from './against.ts';
import { measureBundles } from './bundles.ts';
import { measureBursts } from './bursts.ts';
import { measureDelivery } from './delivery.ts';
import { measureFloods } from './floods.ts';
import { type BenchOptions, type PartName, partNames, readOptions, usage } from './options.ts';
import { pageOf } from './page.ts';
import { describeBundles, describeBursts, describeDelivery, describeFloods, describeService } from './report.ts';
import { measureService } from './service.ts';

const file = join(root, 'docs/performance.md');

/** The numbers of rounds and requests that are measured. */
const sizes = {
  whole: {
    coldRuns: 15,
    requests: 100,
    delivery: { rounds: 5, batches: 20, warmUp: 40 },
    bursts: [2_000, 8_000],
    floods: { rounds: 3, posts: 200 },
    roundsAgainst: 5,
  },
  quick: {
    coldRuns: 3,
    requests: 20,
    delivery: { rounds: 2, batches: 4, warmUp: 4 },
    bursts: [2_000],
    floods: { rounds: 1, posts: 20 },
    roundsAgainst: 1,
  },
};

/** The result of a part, and its section of the page. */
interface Measured {
  readonly result: unknown;
  readonly text: string;
}

type Progress = (what: string) => void;

const titles: Readonly<Record<PartName, string>> = {
  bundles: 'Bundles and cold start',
  service: 'The whole service, as `npm start` runs it',
  delivery: 'Delivery through one consumer',
  bursts: 'Bursts through the whole local run',
  floods: 'Receivers that flood',
};

const measure: Readonly<Record<PartName, (size: typeof sizes.whole, progress: Progress) => Promise<Measured>>> = {
  bundles: async ({ coldRuns }, progress) => {
    const result = measureBundles(coldRuns, progress);
    return { result, text: describeBundles(result, coldRuns) };
  },
  service: async ({ requests }) => {
    const result = await measureService(requests);
    return { result, text: describeService(result) };
  },
  delivery: async ({ delivery }, progress) => {
    const result = await measureDelivery(delivery, progress);
    return { result, text: describeDelivery(result, delivery) };
  },
  bursts: async ({ bursts }, progress) => {
    const result = await measureBursts(bursts, progress);
    return { result, text: describeBursts(result) };
  },
  floods: async ({ floods }, progress) => {
    const result = await measureFloods(floods, progress);
    return { result, text: describeFloods(result, floods) };
  },
};

await runProgram(usage, readOptions, main);

async function main(options: BenchOptions): Promise<boolean> {
  const size = options.quick ? sizes.quick : sizes.whole;
  if (options.against === undefined) await measureParts(options, size);
  else showAgainst(options.against, options, size.roundsAgainst);
  return true;
}

function showAgainst(commit: string, { parts, quick }: BenchOptions, rounds: number): void {
  const compared = measureAgainst(commit, quick ? ['--quick', ...parts] : parts, rounds);
  const rows = compared.map(({ figure, ours, theirs, ratio }) => [
    figure,
    ...[ours, theirs, ratio].map(value => value.toFixed(2)),
  ]);
  console.log(markdownTable(['figure', 'these files', commit, 'ratio'], rows));
}

async function measureParts({ parts, json, quick }: BenchOptions, size: typeof sizes.whole): Promise<void> {
  const begun = performance.now();
  const progress: Progress = what => {
    const seconds = (performance.now() - begun) / 1_000;
    console.error(`${seconds.toFixed(0).padStart(4)} s  ${what}`);
  };
  const measured = new Map<PartName, Measured>();
  for (const part of parts) {
    progress(titles[part]);
    const found = await measure[part](size, what => progress(`  ${what}`));
    measured.set(part, found);
    if (!json) console.log(sectionOf(part, found));
  }
  progress('done');
  if (json) console.log(JSON.stringify(describeRun(quick, measured)));
  if (json || quick || parts.length < partNames.length) return;
  writeFileSync(file, pageOf([...measured].map(([part, found]) => sectionOf(part, found))));
  console.error('Written to docs/performance.md.');
}

function sectionOf(part: PartName, { text }: Measured): string {
  return `## ${titles[part]}\n${text}\n`;
}

/** Returns the result of `--json`. */
function describeRun(quick: boolean, measured: ReadonlyMap<PartName, Measured>) {
  return {
    commit: git('describe', '--always', '--dirty', '--exclude=*'),
    node: process.version,
    processors: cpus().map(({ model }) => model.trim()),
    quick,
    ...Object.fromEntries([...measured].map(([part, { result }]) => [part, result])),
  };
}
