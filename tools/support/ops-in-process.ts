import { Readable } from 'node:stream';
import { runOps as runCommand } from '../../bin/ops/program.ts';

/** How the operator's command line ended. */
export interface OpsResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the operator's command line in this process, for what a command does: how a process behaves is another test's. */
export async function runOpsInProcess(args: readonly string[], input = ''): Promise<OpsResult> {
  const streams = { stdout: '', stderr: '' };
  const into = (name: keyof typeof streams) => ({
    isTTY: false,
    write: (text: string | Uint8Array) => {
      streams[name] += text;
      return true;
    },
  });
  const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)]);
  const code = await runCommand(args, { stdin, stdout: into('stdout'), stderr: into('stderr') });
  return { code, ...streams };
}
