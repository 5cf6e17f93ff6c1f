import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The root folder of the repository. */
export const root = path.join(import.meta.dirname, '..');

/** Calls `use` with a temporary checkout of a commit. The checkout shares the installed dependencies. @throws if the commit does not exist. */
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

/** Runs Git and returns its output. @throws if Git fails. */
export function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
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
