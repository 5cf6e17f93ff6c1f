import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The folder of these files. */
export const root = path.join(import.meta.dirname, '..');

/** Calls `use` with the folder of a commit's files, its own packages, and these dependencies. @throws if the clone lacks the commit. */
export function withCheckout<Result>(commit: string, use: (folder: string) => Result): Result {
  const parent = mkdtempSync(path.join(tmpdir(), 'emissor-commit-'));
  const folder = path.join(parent, 'files');
  try {
    git('worktree', 'add', '--detach', folder, commit);
    linkModules(folder);
    return use(folder);
  } finally {
    rmSync(parent, { recursive: true });
    git('worktree', 'prune');
  }
}

/** Runs Git and returns its output. @throws if it fails. */
export function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

function linkModules(folder: string): void {
  const modules = path.join(folder, 'node_modules');
  mkdirSync(path.join(modules, ownScope), { recursive: true });
  for (const name of readdirSync(path.join(root, 'node_modules'))) {
    if (name !== ownScope) symlinkSync(path.join(root, 'node_modules', name), path.join(modules, name));
  }
  for (const name of readdirSync(path.join(folder, 'packages'))) {
    symlinkSync(path.join(folder, 'packages', name), path.join(modules, ownScope, name));
  }
}

const ownScope = '@emissor';
