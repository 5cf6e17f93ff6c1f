import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import * as z from 'zod';

/** A release whose tree is at hand. */
export interface Release {
  readonly version: string;
  readonly commit: string;
  /** Directory of its tree, with its dependencies. */
  readonly root: string;
}

/** Directory of this tree. */
export const currentRoot = path.join(import.meta.dirname, '../..');

/**
 * Takes the tree of the previous release, which `previous.json` names, out of the history. Its dependencies are this tree's
 * where the lock file says the same of all of them, and are installed otherwise.
 *
 * @param folder - where the tree is put
 * @param say - receives a line about each step
 * @throws an error that says what to do where the history lacks that commit.
 */
export async function takePreviousRelease(folder: string, say: (line: string) => void): Promise<Release> {
  const { version, commit } = previousSchema.parse(readJson(path.join(import.meta.dirname, 'previous.json')));
  await requireCommit(version, commit);
  const root = path.join(folder, 'previous');
  const archive = path.join(folder, 'previous.tar');
  mkdirSync(root);
  await run('git', ['archive', '--format=tar', '--output', archive, commit], { cwd: currentRoot });
  await run('tar', ['-xf', archive, '-C', root]);
  if (hasSameDependencies(root)) {
    symlinkSync(path.join(currentRoot, 'node_modules'), path.join(root, 'node_modules'), 'junction');
    say(`Release ${version} (${commit.slice(0, 7)}) uses this tree's dependencies: its lock file says the same.`);
  } else {
    say(`Release ${version} (${commit.slice(0, 7)}) has other dependencies: npm ci …`);
    await run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: root, shell: isWindows });
  }
  return { version, commit, root };
}

const previousSchema = z.object({ version: z.string(), commit: z.string().regex(/^[0-9a-f]{40}$/) });

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

async function requireCommit(version: string, commit: string): Promise<void> {
  try {
    await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: currentRoot });
  } catch {
    throw new Error(
      `The previous release ${version} is commit ${commit}, which this clone does not have. These tests run its bundles beside this tree's, so they need the history: \`git fetch --unshallow\` brings it (in a workflow, \`fetch-depth: 0\` of actions/checkout). If the clone is complete, test/release/previous.json names a wrong commit.`,
    );
  }
}

const run = promisify(execFile);

const isWindows = process.platform === 'win32'; // npm is a script there

/** Returns whether every package of that tree's lock file is in this one's, in the same version. */
function hasSameDependencies(root: string): boolean {
  const [theirs, ours] = [root, currentRoot].map(directory => {
    const { packages } = lockSchema.parse(readJson(path.join(directory, 'package-lock.json')));
    return packages;
  });
  return Object.entries(theirs ?? {}).every(([name, entry]) => name === '' || isDeepStrictEqual(ours?.[name], entry));
}

const lockSchema = z.object({ packages: z.record(z.string(), z.unknown()) });
