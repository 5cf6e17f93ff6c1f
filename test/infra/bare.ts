import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Directory of the project. */
export const root = join(import.meta.dirname, '../..');

/** Runs a program with nothing but a PATH in its environment: no home, no region, no credentials. */
export const runBare = (program: string, ...args: string[]) =>
  spawnSync(join(root, 'node_modules/.bin', program), args, {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: `${join(root, 'node_modules/.bin')}:/usr/bin:/bin`, HOME: '/nonexistent' },
  });
