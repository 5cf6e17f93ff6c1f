import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { reportContract } from './contract/report.ts';
import type { Run } from './e2e-target.ts';

// Vitest's global set-up of the end-to-end project: the run under test, for all suites together.
//   EMISSOR_OUTPUTS=FILE  targets what that outputs file describes: a run that is up already, or a deployed stage
//                         (written by `cdk deploy --outputs-file`).
//   EMISSOR_HOSTS=FILE    with it, for a local run: the file its --hosts option names.
//   EMISSOR_ATTEMPTS=N    with it, where the attempts of a delivery are a second apart: how many there are.
// Suites that need the engines take AWS_ENDPOINT_URL for an emulator of AWS that stands in for them.
// Without them a local run is started on free ports, and ended with the suites.

/**
 * Starts or finds the run under test and tells every test file about it. A run that starts is not waited for here, since no
 * project's tests begin before all set-ups have ended: `e2e-target.ts` waits for it.
 */
export function setup(project: TestProject): void {
  const outputsFile = process.env.EMISSOR_OUTPUTS;
  const run = outputsFile ? existingRun(outputsFile) : startRun(project);
  report = () => reportContract(run, project);
  project.provide('run', run);
}

/** Ends the run that `setup` started. Fails if it wrote a planted secret, or if described answers were never met. */
export async function teardown(): Promise<void> {
  try {
    report();
  } finally {
    await stop();
  }
}

function existingRun(outputsFile: string): Run {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-e2e-'));
  stop = async () => rmSync(folder, { recursive: true, force: true });
  writeFileSync(path.join(folder, 'contract'), '');
  const hostsFile = process.env.EMISSOR_HOSTS;
  return {
    outputsFile: path.resolve(outputsFile),
    hostsFile: hostsFile === undefined ? null : path.resolve(hostsFile),
    logFile: null,
    processId: null,
    canaryFile: path.join(folder, 'canaries'),
    contractFile: path.join(folder, 'contract'),
    attempts: Number(process.env.EMISSOR_ATTEMPTS) || null,
  };
}

function startRun(project: TestProject): Run {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-e2e-'));
  const file = (name: string) => path.join(folder, name);
  const logFile = file('run.log');
  writeFileSync(file('hosts.json'), '{}');
  writeFileSync(file('canaries'), '');
  writeFileSync(file('contract'), '');
  const log = openSync(logFile, 'a');
  const options = ['--port', '0', '--outputs', file('outputs.json'), '--hosts', file('hosts.json')];
  const settings = ['--retry-schedule', retrySchedule, '--set', 'attemptTimeout=2s'];
  const child = spawn(process.execPath, ['bin/local.ts', ...options, ...settings], {
    cwd: root,
    env: { ...process.env, npm_lifecycle_event: 'start' }, // it ends with vitest, as with npm, however that ends
    stdio: ['ignore', log, log],
  });
  const run: Run = {
    outputsFile: file('outputs.json'),
    hostsFile: file('hosts.json'),
    logFile,
    processId: child.pid ?? null,
    canaryFile: file('canaries'),
    contractFile: file('contract'),
    attempts: retrySchedule.split(',').length + 1,
  };

  stop = async () => {
    await end(child);
    const output = readLog(logFile);
    const found = leaks(run, output);
    if (project.vitest.state.getCountOfFailedTests() > 0) {
      process.stderr.write(`\nThe run under test wrote (last lines of ${logFile}):\n${tail(output, 80)}\n`);
    } else if (found.length === 0) {
      rmSync(folder, { recursive: true, force: true });
    }
    if (found.length > 0) throw new Error(`${found.length} planted secrets are in the run's output: ${logFile}`);
  };
  return run;
}

let report: () => void = () => {};

let stop: () => Promise<void> = async () => {};

const retrySchedule = '1s,1s,1s';

const root = path.join(import.meta.dirname, '../..');

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopLimit);
  await exited;
  clearTimeout(timer);
}

function readLog(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Returns every secret that the suites planted; none may be found in what the run wrote. */
function leaks(run: Run, log: string): string[] {
  const planted = new Set(readLog(run.canaryFile).split('\n').filter(Boolean));
  return [...planted].filter(secret => log.includes(secret));
}

function tail(text: string, lines: number): string {
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}

const stopLimit = 10_000;
