import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CommandResult, cleanEnvironment } from './command.ts';
import { account, type Emulator, region, startEmulator } from './emulator.ts';
import { runEndToEnd } from './end-to-end.ts';
import { type Inventory, makeInventory } from './inventory.ts';
import { pythonEnvironment } from './python-environment.ts';
import { makeStepLog } from './step-log.ts';
import { makeWorkCopy, type WorkCopy } from './work-copy.ts';

// The steps of an operator's first day, in order, with the real command line of the CDK, on an emulator of AWS instead of an
// account. The stages are the committed ones; their files get what an operator writes into them, in a copy of the tree.

/** What a trial writes into every stage's file: the attempts of a delivery a second apart, and room for the tests' refusals. */
const trialValues = {
  retrySchedule: '1s,1s,1s',
  attemptTimeout: '2s',
  addressFailureLimit: 100_000,
  clientFailureLimit: 100_000,
};
const attempts = 4;

/** Milliseconds: how long a command may take on a busy machine. */
const commandLimit = 240_000;

let python: string;
let folder: string;
let emulator: Emulator | undefined;
let copy: WorkCopy;
let inventory: Inventory;

const log = makeStepLog(() => emulator?.processId);

/** A step is skipped when one before it has failed. */
function step(name: string, run: () => Promise<string | undefined>, limit = commandLimit): void {
  it(name, { timeout: limit + 10_000 }, async ({ skip }) => {
    if (log.failed !== undefined) skip(`"${log.failed}" failed`);
    await log.measure(name, run);
  });
}

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'emissor-deployment-'));
});

afterAll(async () => {
  console.log(`\n${log.table()}\n`);
  if (log.failed !== undefined && emulator) console.log(`The emulator wrote, at the end:\n${emulator.tail(60)}`);
  await emulator?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 30_000);

step(
  'install the emulator and cfn-lint, or find them installed',
  async () => {
    python = await pythonEnvironment();
    return path.dirname(path.dirname(python));
  },
  600_000,
);

step('start the emulator', async () => {
  const files = path.join(folder, 'emulator');
  mkdirSync(files);
  emulator = await startEmulator(python, files);
  copy = makeWorkCopy(folder, emulator.environment, commandLimit);
  inventory = makeInventory(emulator.endpoint);
  copy.configure('dev', trialValues);
  return emulator.endpoint;
});

step('bootstrap the account', async () => {
  succeeded(await copy.cdk('bootstrap', `aws://${account}/${region}`));
  return undefined;
});

step('dev: deploy', async () => {
  succeeded(await deploy('dev', '--outputs-file', outputsOf('dev')));
  expect(await statesOf('dev')).toEqual(Array(4).fill('CREATE_COMPLETE'));
  return `${(await inventory.identities()).size} tables, queues, log groups, keys, topics and functions`;
});

step('dev: cfn-lint', () => lint('dev'));

step('dev: end-to-end', () => endToEnd('dev'), 500_000);

step('dev: diff finds nothing', async () => {
  const { output } = succeeded(await copy.cdk('diff', '--all', '--fail', '-c', 'stage=dev'));
  expect(output).toContain('Number of stacks with differences: 0');
  return undefined;
});

step('dev: a second deployment changes nothing', async () => {
  const { output } = succeeded(await deploy('dev'));
  expect(output.match(/\(no changes\)/g)).toHaveLength(4);
  return undefined;
});

step('dev: destroy leaves nothing behind', async () => {
  succeeded(await copy.cdk('destroy', '--all', '--force', '-c', 'stage=dev'));
  expect([...(await inventory.stacks()).keys()]).toEqual(['CDKToolkit']);
  expect([...(await inventory.identities()).keys()]).toEqual([]);
  return undefined;
});

function deploy(stage: string, ...options: string[]): Promise<CommandResult> {
  const words = ['--all', '-c', `stage=${stage}`, '--require-approval', 'never', '--progress', 'events'];
  return copy.cdk('deploy', ...words, ...options);
}

function outputsOf(stage: string): string {
  return path.join(folder, `${stage}-outputs.json`);
}

/** @throws with all output, when the command failed. */
function succeeded(result: CommandResult): CommandResult {
  if (result.code !== 0) throw new Error(`It ended with ${result.code}:\n${result.output}`);
  return result;
}

async function statesOf(stage: string): Promise<(string | undefined)[]> {
  const stacks = await inventory.stacks();
  return ['Data', 'Auth', 'Webhooks', 'Delivery'].map(name => stacks.get(`Emissor-${stage}-${name}`));
}

/** The templates that the last synthesis of the stage wrote. */
async function lint(stage: string): Promise<string> {
  const output = path.join(folder, 'tree/cdk.out');
  const manifest = JSON.parse(readFileSync(path.join(output, 'manifest.json'), 'utf8'));
  const templates = Object.keys(manifest.artifacts)
    .filter(name => name.startsWith(`Emissor-${stage}-`) && !name.endsWith('.assets'))
    .map(name => path.join(output, `${name}.template.json`));
  expect(templates).toHaveLength(4);
  const words = ['-c', 'import sys; from cfnlint.runner import main; sys.exit(main())', '-i', 'W3005', 'W6001', '--'];
  await promisify(execFile)(python, [...words, ...templates], { env: cleanEnvironment(), timeout: commandLimit }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`cfn-lint found:\n${stdout}${stderr}`);
    },
  );
  return `${templates.length} templates`;
}

async function endToEnd(stage: string, files: readonly string[] = []): Promise<string> {
  if (!emulator) throw new Error('There is no emulator.');
  const { counts, problems, output } = await runEndToEnd(emulator, outputsOf(stage), { files, attempts });
  if (problems.length > 0) throw new Error(`${problems.join('\n')}\n\n${output}`);
  const { passed, failed, skipped } = counts;
  return `${passed} passed, ${failed} told apart as the emulator's, ${skipped} skipped`;
}
