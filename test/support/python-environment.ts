import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * A virtual environment with packages of PyPI. The first run makes it, which takes half a minute; it is kept in the user's
 * cache directory under a name that tells the versions, and later runs use it as it is.
 *
 * @param name - what it is for, such as `deployment`.
 * @param requirements - as pip takes them, such as `cfn-lint==1.58.0`.
 * @returns the path of its Python.
 * @throws when Python 3.10 or newer is not there, or cannot make virtual environments, or PyPI cannot be reached.
 */
export async function pythonEnvironment(name: string, requirements: readonly string[]): Promise<string> {
  const version = await run('python3', ['-c', 'import sys; print(sys.version, sys.prefix)'], missing);
  const key = createHash('sha256')
    .update([version, ...requirements].join('\n'))
    .digest('hex')
    .slice(0, 12);
  const cache = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'emissor');
  const directory = path.join(cache, `${name}-${key}`);
  const python = path.join(directory, 'bin/python');
  if (existsSync(python)) return python;

  // It is made beside its place and moved there when it is complete: another run may be making the same one.
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(path.join(cache, 'draft-'));
  try {
    await run('python3', ['-m', 'venv', draft], missing);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements];
    await run(path.join(draft, 'bin/python'), install, 'PyPI could not be reached, or lacks a package');
    renameSync(draft, directory);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(python)) throw error;
  }
  return python;
}

const missing =
  'Python 3.10 or newer with its module venv is needed (Debian and Ubuntu: apt-get install python3 python3-venv)';

async function run(command: string, args: readonly string[], advice: string): Promise<string> {
  try {
    return (await promisify(execFile)(command, args, { timeout: 300_000 })).stdout;
  } catch (error) {
    const { stderr = '', message = '' } = error as { stderr?: string; message?: string };
    throw new Error(`${advice}: ${(stderr || message).trim()}`);
  }
}
