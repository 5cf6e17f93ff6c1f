import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type OpsResult, runOpsJson } from '../../tools/support/ops.ts';
import { run } from './e2e-target.ts';
import { root } from './run-node.ts';

/** Runs the operators' CLI in a separate process. */
export async function runOps(args: readonly string[], input = '', environment?: NodeJS.ProcessEnv): Promise<OpsResult> {
  const child = startOps(args, environment);
  child.stdin.on('error', () => {}); // a command that reads no input may close stdin before the write
  child.stdin.end(input);
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}

/** Starts the operators' CLI in a separate process. */
export function startOps(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  return spawn(process.execPath, ['--require', './bin/node-version.cjs', 'bin/ops.ts', ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
}

/** Runs a command in this process for the run under test. Returns its `--json` output. @throws if the command fails */
export function ops<Output>(args: readonly string[], input?: string): Promise<Output> {
  return runOpsJson(run.outputsFile, args, input);
}
