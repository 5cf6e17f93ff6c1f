import { createHash } from 'node:crypto';
import path from 'node:path';
import { cachedFolder } from './cached-folder.ts';
import { command } from './command.ts';

/**
 * Returns the path of Python in a virtual environment with PyPI packages. The first run creates the environment in the user's cache directory,
 * which takes 30 seconds.
 *
 * @param requirements - the requirements in pip's format, such as `cfn-lint==1.58.0`
 * @throws if Python 3.10 or later, its module `venv`, or PyPI is not available
 */
export async function pythonEnvironment(name: string, requirements: readonly string[]): Promise<string> {
  const version = await run('python3', ['-c', 'import sys; print(sys.version, sys.prefix)'], missing);
  const key = createHash('sha256')
    .update([version, ...requirements].join('\n'))
    .digest('hex')
    .slice(0, 12);
  const folder = await cachedFolder(`${name}-${key}`, async draft => {
    await run('python3', ['-m', 'venv', draft], missing);
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements];
    await run(path.join(draft, 'bin/python'), install, 'Could not install the packages from PyPI');
  });
  return path.join(folder, 'bin/python');
}

const missing =
  'Install Python 3.10 or later with its module venv (Debian and Ubuntu: apt-get install python3 python3-venv)';

async function run(program: string, args: readonly string[], advice: string): Promise<string> {
  return command([program, ...args]).catch(({ message }) => Promise.reject(new Error(`${advice}: ${message}`)));
}
