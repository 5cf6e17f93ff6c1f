import { spawn } from 'node:child_process';

/** The place and the environment of a command. */
export interface Surroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a command of another's tool, for five minutes at most.
 *
 * @returns what it wrote to its standard output.
 * @throws with all that it wrote where it fails.
 */
export function command(
  words: readonly [string, ...string[]],
  { cwd = process.cwd(), env = {} }: Surroundings = {},
): Promise<string> {
  const [program, ...options] = words;
  const child = spawn(program, options, { cwd, env: { ...process.env, ...env }, timeout: 300_000 });
  let all = '';
  let output = '';
  child.stdout.on('data', chunk => {
    output += chunk;
    all += chunk;
  });
  child.stderr.on('data', chunk => {
    all += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', code => {
      if (code === 0) resolve(output);
      else reject(new Error(`${words.join(' ')} ended with ${code}:\n${all.slice(-8_000)}`));
    });
  });
}

/** Says on the terminal what is being done: the stage takes minutes. */
export function say(line: string): void {
  process.stdout.write(`generators: ${line}\n`);
}
