/** `npm run cost`: counts what requests take in a local run, and writes docs/cost.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { countQuickly } from '../../test/support/quick-counts.ts';
import { root } from '../checkout.ts';
import { runProgram } from '../program.ts';
import { type Action, actions, BusyMachineError, steadied } from './counts.ts';
import { type Measured, measureActions } from './measure.ts';
import { costPage, idleMonths, unitCosts } from './page.ts';

const usage = `npm run cost [-- OPTIONS]

Makes requests in one process, with clocks that are moved, and counts their calls, units and requests of queues; then makes them to a
local run, and counts the bytes of its log. Writes lab/cost/counts.json, lib/unit-costs.json and docs/cost.md, with the prices of
lab/cost/prices.json. It takes two minutes. A machine that is too busy may do more than is asked of it: then it writes nothing, and
ends with status 1.

  --prices  counts nothing: writes the page anew from lab/cost/counts.json, after a change of prices or templates
  --help    this text
`;

const countsFile = join(import.meta.dirname, 'counts.json');

await runProgram(usage, readOptions, main);

/** Returns whether the page was written. */
async function main({ prices }: ReturnType<typeof readOptions>): Promise<boolean> {
  const begun = performance.now();
  const progress = (what: string) =>
    console.error(`${((performance.now() - begun) / 1_000).toFixed(0).padStart(4)} s  ${what}`);
  const stored = prices ? readCounts() : await countAll(progress).catch(onBusyMachine);
  if (!stored) return false;
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

async function countAll(progress: (what: string) => void): Promise<Measured> {
  progress('in one process');
  const steady = await countQuickly();
  const { actions: measured, sweep } = await measureActions(progress);
  const steadiedOf = (action: Action) => [action, steadied(action, measured[action], steady[action])] as const;
  const stored = { actions: { ...measured, ...Object.fromEntries(actions.map(steadiedOf)) }, sweep };
  writeFileSync(countsFile, `${JSON.stringify(stored, undefined, 2)}\n`);
  return stored;
}

function onBusyMachine(error: unknown): undefined {
  if (!(error instanceof BusyMachineError)) throw error;
  console.error(`${error.message}. Nothing was written: run it again on a machine that does nothing else.`);
}
