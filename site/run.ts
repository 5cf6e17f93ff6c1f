import { spawn } from 'node:child_process';
import { once } from 'node:events';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs a program, and forwards signals to it. If the program fails, this process exits with the same exit code. */
export async function run(program: string, parameters: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const shell = process.platform === 'win32' && program === 'npm';
  const child = spawn(program, parameters, { env, stdio: 'inherit', shell });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  const [status, signal] = await once(child, 'exit');
  for (const each of signals) process.off(each, forward);
  if (signal !== null) process.kill(process.pid, signal);
  if (status !== 0) process.exit(status ?? 1);
}
