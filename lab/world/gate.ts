import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SeedReport } from './run-seeds.ts';
import type { WorldName } from './world-result.ts';

/** A seed that found a fault once. */
interface FoundSeed extends WorldName {
  /** What was broken. */
  readonly found: string;
}

/** Returns the seeds that found faults before: each is run by the gate for ever. */
export function readFoundSeeds(): readonly FoundSeed[] {
  const read: readonly FoundSeed[] = JSON.parse(readFileSync(foundSeedsFile, 'utf8'));
  return read;
}

/** Returns the first seed of a commit: another one for other files, and the same for the same. Without Git it is 1,000. */
export function firstSeedOfTree(): number {
  try {
    return 1_000 + (Number.parseInt(git('rev-parse', 'HEAD^{tree}').slice(0, 8), 16) % 9_000_000);
  } catch {
    return 1_000;
  }
}

/**
 * Runs broken seeds with the parent commit's files. Returns those that are broken there, too: they were found, and not made, by this
 * change, and are written to the file of found seeds. None where the clone has no parent commit.
 */
export function foundBefore(broken: readonly SeedReport[]): readonly SeedReport[] {
  if (broken.length === 0) return [];
  const parent = checkOutParent();
  if (parent === undefined) return [];
  try {
    const known = broken.filter(report => isBrokenIn(parent, report));
    if (known.length > 0) noteFound(known);
    return known;
  } finally {
    git('worktree', 'remove', '--force', parent);
    rmSync(path.dirname(parent), { recursive: true, force: true });
  }
}

function checkOutParent(): string | undefined {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'emissor-parent-')), 'parent');
  try {
    git('worktree', 'add', '--detach', folder, 'HEAD^');
  } catch {
    return undefined;
  }
  linkModules(folder);
  return folder;
}

/** Gives the parent's files the dependencies of these, and its own packages. */
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

/** Returns whether a world ends with a broken promise there. A commit without this program finds nothing. */
function isBrokenIn(folder: string, { kind, seed, faultClass }: WorldName): boolean {
  const program = path.join(folder, 'lab/world/world.ts');
  if (!existsSync(program)) return false;
  try {
    const world = ['--kind', kind, '--seed', String(seed), '--class', faultClass];
    execFileSync(process.execPath, [program, ...world], { cwd: folder, stdio: 'pipe' });
    return false;
  } catch (error) {
    return error instanceof Error && 'stdout' in error && String(error.stdout).includes('A promise is broken');
  }
}

function noteFound(known: readonly SeedReport[]): void {
  const earlier = readFoundSeeds();
  const isNew = ({ kind, seed, faultClass }: WorldName) =>
    !earlier.some(one => one.kind === kind && one.seed === seed && one.faultClass === faultClass);
  const noted = known.filter(isNew).map(({ kind, seed, faultClass, violations: [first] }) => ({
    kind,
    seed,
    faultClass,
    found: first?.what ?? '',
  }));
  writeFileSync(foundSeedsFile, `${JSON.stringify([...earlier, ...noted], undefined, 2)}\n`);
}

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

const root = path.join(import.meta.dirname, '../..');
const foundSeedsFile = path.join(import.meta.dirname, 'found-seeds.json');
