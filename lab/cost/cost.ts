/** `npm run cost`: counts what requests take, and writes docs/cost.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../checkout.ts';
import { runProgram } from '../program.ts';
import { accessLineBytes } from './access-line.ts';
import { type Action, actions, type Counts, type Measured } from './counts.ts';
import { functionMemory } from './idle.ts';
import { costPage, idleMonths, unitCosts } from './page.ts';
import { countQuickly } from './quick-counts.ts';

const usage = `npm run cost [-- OPTIONS]

Makes requests in one process, with clocks that are moved, and counts their calls, units, requests of queues and lines of logs. Writes
lab/cost/counts.json, lib/unit-costs.json and docs/cost.md, with the prices of lab/cost/prices.json.

  --prices  counts nothing: writes the page anew from lab/cost/counts.json, after a change of prices or templates
  --help    this text
`;

const countsFile = join(import.meta.dirname, 'counts.json');

/** The functions that are asked first, where that is no consumer of events, and the requests to an API. */
const askedFunctions: Partial<Record<Action | 'sweep', readonly [name: string, apiRequests: number]>> = {
  login: ['Token', 1],
  refresh: ['Token', 1],
  registration: ['WebhooksApi', 1],
  test: ['WebhooksApi', 1],
  sweep: ['Sweep', 0],
};

await runProgram(usage, readOptions, main);

async function main({ prices }: ReturnType<typeof readOptions>): Promise<boolean> {
  const begun = performance.now();
  const progress = (what: string) =>
    console.error(`${((performance.now() - begun) / 1_000).toFixed(0).padStart(4)} s  ${what}`);
  if (!prices) await countAll(progress);
  const stored = readCounts();
  progress('the page');
  writeFileSync(join(root, 'lib/unit-costs.json'), `${JSON.stringify(unitCosts(stored), undefined, 2)}\n`); // before the templates are made
  writeFileSync(join(root, 'docs/cost.md'), costPage(stored, idleMonths(stored)));
  progress('done: docs/cost.md');
  return true;
}

function readOptions(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  return parseArgs({ args: [...args], options: { prices: flag, help: flag } }).values;
}

function readCounts(): Measured {
  return JSON.parse(readFileSync(countsFile, 'utf8'));
}

async function countAll(progress: (what: string) => void): Promise<void> {
  progress('in one process');
  const counts = await countQuickly();
  const memoryOf = functionMemory();
  const wholeOf = (action: Action | 'sweep'): Counts => {
    const [name, apiRequests] = askedFunctions[action] ?? ['DeliverFirst', 0];
    const known = { keyRequests: 0, accessLogBytes: apiRequests * accessLineBytes() };
    return { apiRequests, megabytes: memoryOf(name), ...counts[action], ...known };
  };
  const stored = { actions: Object.fromEntries(actions.map(name => [name, wholeOf(name)])), sweep: wholeOf('sweep') };
  writeFileSync(countsFile, `${JSON.stringify(stored, undefined, 2)}\n`);
}
