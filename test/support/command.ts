import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs an external command for at most 5 minutes. Returns its standard output. @throws with the end of its output if it fails */
export async function command(
  [program, ...options]: readonly [string, ...string[]],
  { cwd = process.cwd(), env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const settings = { cwd, env: { ...process.env, ...env }, timeout: 300_000, maxBuffer: 2 ** 26 };
  try {
    return (await promisify(execFile)(program, options, settings)).stdout;
  } catch (error) {
    const { stdout = '', message = '' } = error as { stdout?: string; message?: string };
    throw new Error(`${stdout.slice(-8_000)}\n${message.slice(-8_000)}`); // the message contains the command and stderr
  }
}
