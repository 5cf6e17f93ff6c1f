import { spawn } from 'node:child_process';
import path from 'node:path';
import { type OpsResult, runOpsInProcess } from '../../tools/support/ops-in-process.ts';
import { run } from './e2e-target.ts';

/** Settings of one call beyond its arguments. */
export interface OpsSettings {
  /** What it reads from standard input. */
  readonly input?: string;
  /** Environment variables to add, or (`undefined`) to take away. */
  readonly environment?: Record<string, string | undefined>;
}

/** Runs the operator's command line as an operator would, with exactly these arguments. */
export function runOps(
  args: readonly string[],
  { input = '', environment = {} }: OpsSettings = {},
): Promise<OpsResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--require', './bin/node-version.cjs', 'bin/ops.ts', ...args], {
      cwd: root,
      env: { ...process.env, ...environment },
      timeout: limit,
      killSignal: 'SIGKILL',
    });
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

/**
 * Runs a command against the run under test and gives its `--json` answer. It starts no process: what a command does is
 * the same without one, in a tenth of the time.
 *
 * @throws when the command fails.
 */
export async function ops<Answer>(args: readonly string[], input?: string): Promise<Answer> {
  const words = ['--outputs', run.outputsFile, '--json', ...args];
  const { code, stdout, stderr } = await runOpsInProcess(words, input);
  if (code !== 0) throw new Error(`ops ${args.slice(0, 2).join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

const root = path.join(import.meta.dirname, '../..');

const limit = 60_000;
