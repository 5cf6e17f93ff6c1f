/** `npm run cost`: counts what requests take in a local run, and writes docs/cost.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { countQuickly } from '../../test/support/quick-counts.ts';
import { measureActions } from './measure.ts';
import { costPage, idleMonths, type StoredCounts, unitCosts } from './page.ts';

const usage = `npm run cost [-- OPTIONS]

Starts a local run, makes requests to it, counts their calls, units and log bytes, and writes lab/cost/counts.json, lib/unit-costs.json
and docs/cost.md, with the prices of lab/cost/prices.json. It takes two minutes.

  --prices  counts nothing: writes the page anew from lab/cost/counts.json, after a change of prices or templates
  --help    this text
`;

const root = join(import.meta.dirname, '../..');
const countsFile = join(import.meta.dirname, 'counts.json');

process.exit(await main());

async function main(): Promise<number> {
  const options = readOptions();
  if (!options) return 2;
  if (options.help) {
    console.log(usage);
    return 0;
  }
  const begun = performance.now();
  const progress = (what: string) =>
    console.error(`${((performance.now() - begun) / 1_000).toFixed(0).padStart(4)} s  ${what}`);
  const stored = options.prices ? readCounts() : await countAll(progress);
  progress('the page');
  writeFileSync(join(root, 'lib/unit-costs.json'), `${JSON.stringify(unitCosts(stored), undefined, 2)}\n`); // before the templates are made
  writeFileSync(join(root, 'docs/cost.md'), costPage(stored, idleMonths(stored)));
  progress('done: docs/cost.md');
  return 0;
}

function readOptions() {
  try {
    const flag = { type: 'boolean', default: false } as const;
    return parseArgs({ options: { prices: flag, help: flag } }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    return undefined;
  }
}

function readCounts(): StoredCounts {
  return JSON.parse(readFileSync(countsFile, 'utf8'));
}

async function countAll(progress: (what: string) => void): Promise<StoredCounts> {
  const measured = await measureActions(progress);
  progress('the store alone');
  const stored = { ...measured, store: await countQuickly() };
  writeFileSync(countsFile, `${JSON.stringify(stored, undefined, 2)}\n`);
  return stored;
}
