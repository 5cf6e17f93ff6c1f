import { spawn } from 'node:child_process';
import path from 'node:path';
import { askOps, type OpsResult } from '../../tools/support/ops.ts';
import { run } from './e2e-target.ts';

/** Runs the operator's command line as an operator would, with exactly these arguments. */
export function runOps(args: readonly string[], input = '', environment: NodeJS.ProcessEnv = {}): Promise<OpsResult> {
  return new Promise((resolve, reject) => {
    const child = startOps(args, environment);
    const streams = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        streams[name] += text;
      });
    }
    child.once('error', reject);
    child.once('close', code => resolve({ code, ...streams }));
    child.stdin.on('error', () => {}); // a command that reads nothing may close its end first
    child.stdin.end(input);
  });
}

/** Starts the operator's command line as a process of its own. */
export function startOps(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  return spawn(process.execPath, ['--require', './bin/node-version.cjs', 'bin/ops.ts', ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    timeout: limit,
    killSignal: 'SIGKILL',
  });
}

/** Runs a command against the run under test and returns its `--json` answer; it starts no process. @throws when it fails. */
export function ops<Answer>(args: readonly string[], input?: string): Promise<Answer> {
  return askOps(run.outputsFile, args, input);
}

const root = path.join(import.meta.dirname, '../..');

const limit = 60_000;
