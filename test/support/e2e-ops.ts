import { spawn } from 'node:child_process';
import path from 'node:path';
import { run } from './e2e-target.ts';

const root = path.join(import.meta.dirname, '../..');

/** How the operator's command line ended. */
export interface OpsResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Settings of one call beyond its arguments. */
export interface OpsSettings {
  /** What it reads from standard input. */
  readonly input?: string;
  /** Environment variables to add, or (`undefined`) to take away. */
  readonly environment?: Record<string, string | undefined>;
}

const limit = 60_000;

/** Runs the operator's command line as an operator would, with exactly these arguments. */
export const runOps = (
  args: readonly string[],
  { input = '', environment = {} }: OpsSettings = {},
): Promise<OpsResult> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['bin/ops.ts', ...args], {
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

/**
 * Runs a command against the run under test and gives its `--json` answer.
 *
 * @throws when the command fails.
 */
export const ops = async <Answer>(args: readonly string[], input?: string): Promise<Answer> => {
  const settings = input === undefined ? {} : { input };
  const { code, stdout, stderr } = await runOps(['--outputs', run.outputsFile, '--json', ...args], settings);
  if (code !== 0) throw new Error(`ops ${args.slice(0, 2).join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
};
