import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Runs a command of another's tool, for five minutes at most. `env` is added to the environment of this process.
 *
 * @returns what it wrote to its standard output.
 * @throws with the end of all that it wrote if it fails.
 */
export async function command(
  [program, ...options]: readonly [string, ...string[]],
  { cwd = process.cwd(), env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const settings = { cwd, env: { ...process.env, ...env }, timeout: 300_000, maxBuffer: 2 ** 26 };
  try {
    return (await promisify(execFile)(program, options, settings)).stdout;
  } catch (error) {
    const { stdout = '', message = '' } = error as { stdout?: string; message?: string };
    throw new Error(`${stdout.slice(-8_000)}\n${message.slice(-8_000)}`); // the message has the command and its errors
  }
}
