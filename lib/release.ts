import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { IConstruct } from 'constructs';
import { ConfigurationError, type StageName } from './stage-files.ts';

/**
 * Returns the label of a release, such as `0.2.0-1a2b3c4d5e6f` or `0.2.0-1a2b3c4d5e6f-0a1b2c3d-n2`. The label consists of the version, the
 * commit, a hash of uncommitted changes, and the number that the operator passes to deploy a commit again (`-c release=N`).
 *
 * @throws {ConfigurationError} if the number is malformed, or if Git cannot read the commit.
 */
export function releaseLabel(stage: StageName, number?: unknown): string {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  if (stage === 'local') return `${version}-local`;
  if (number !== undefined && !/^\d{1,9}$/.test(String(number))) {
    throw new ConfigurationError('release must be a number of up to 9 digits, such as -c release=2.');
  }
  return [version, ...commit(), ...(number === undefined ? [] : [`n${number}`])].join('-');
}

/** Sets the release of an app. Call it before you add functions. */
export function setRelease(app: IConstruct, release: string): void {
  app.node.setContext(key, release);
}

/** Returns the release of the app that a construct belongs to. */
export function releaseOf(scope: IConstruct): string {
  return scope.node.getContext(key);
}

const key = 'emissor:release';

/** Returns the commit, and a hash of the uncommitted changes if there are any. */
function commit(): readonly string[] {
  const [head, changes, added] = readGit();
  if (changes === '' && added.length === 0) return [head];
  const hash = createHash('sha256').update(changes);
  for (const file of added) hash.update(`${file}\0`).update(readFileSync(path.join(root, file)));
  return [head, hash.digest('hex').slice(0, 8)];
}

/** Returns the commit, the changes to tracked files, and the untracked files except nested repositories and links. */
function readGit(): readonly [head: string, changes: string, added: readonly string[]] {
  try {
    const added = git('ls-files', '--others', '--exclude-standard', '-z').split('\0');
    return [
      git('rev-parse', '--short=12', 'HEAD').trim(),
      git('diff', 'HEAD', '--binary', '--no-ext-diff', '--no-textconv', '--no-color'),
      added.filter(file => file !== '' && lstatSync(path.join(root, file)).isFile()),
    ];
  } catch {
    throw new ConfigurationError('Could not read the commit. Deploy from a Git checkout that has at least one commit.');
  }
}

function git(...args: readonly string[]): string {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: 'pipe' } as const;
  return execFileSync('git', args, options);
}

const root = path.join(import.meta.dirname, '..');
