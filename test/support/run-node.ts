import { spawn } from 'node:child_process';
import path from 'node:path';

export const root = path.join(import.meta.dirname, '../..');

/** The outcome of a command. `output` contains standard output and standard error in chronological order. */
export interface CommandResult {
  readonly code: number | null;
  readonly output: string;
}

/** A Node program and its arguments. `runNode` kills the process after `timeout` milliseconds. */
interface Command {
  readonly args: readonly string[];
  readonly directory: string;
  /** The variables in addition to those of {@link cleanEnvironment}. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeout: number;
  readonly input?: string;
}

/** Runs a Node program until it exits. It does not reject if the program fails. */
export function runNode({ args, directory, environment, timeout, input = '' }: Command): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: directory,
      env: { ...cleanEnvironment(), ...environment },
      stdio: 'pipe',
      timeout,
      killSignal: 'SIGKILL',
    });
    const endNow = () => child.kill('SIGKILL');
    process.once('exit', endNow);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.stdin.on('error', () => {}); // a program that reads no input may close stdin before the write
    child.stdin.end(input);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      process.removeListener('exit', endNow);
      resolve({ code, output: signal === null ? output : `${output}\nEnded by ${signal} after ${timeout} ms.` });
    });
  });
}

/**
 * Returns this process's variables without those for AWS, proxies and the test runner, so that no command can access an AWS account. Programs
 * that npm installed precede others in PATH.
 */
export function cleanEnvironment(): Record<string, string> {
  const variables = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !excludedVariables.test(entry[0]),
  );
  return {
    ...Object.fromEntries(variables),
    PATH: [path.dirname(process.execPath), path.join(root, 'node_modules/.bin'), process.env.PATH].join(path.delimiter),
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    NO_COLOR: '1',
  };
}

const excludedVariables = /^(AWS_|CDK_|VITEST|EMISSOR_|NODE_OPTIONS$|NODE_V8_COVERAGE$|NODE_ENV$|TEST$|.*_proxy$)/i;
