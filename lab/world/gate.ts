import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { git, withCheckout } from '../checkout.ts';
import type { SeedReport } from './run-world.ts';
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
  const tree = findObject('HEAD^{tree}');
  return tree === undefined ? 1_000 : 1_000 + (Number.parseInt(tree.slice(0, 8), 16) % 9_000_000);
}

/**
 * Runs broken seeds with the parent commit's files. Returns those that are broken there, too: they were found, and not made, by this
 * change, and are written to the file of found seeds. None where the clone has no parent commit.
 */
export function foundBefore(broken: readonly SeedReport[]): readonly SeedReport[] {
  const parent = findObject('HEAD^');
  if (broken.length === 0 || parent === undefined) return [];
  const known = withCheckout(parent, folder => broken.filter(report => isBrokenIn(folder, report)));
  if (known.length > 0) noteFound(known);
  return known;
}

/** Returns the name of an object of Git; nothing where there is none, or no Git. */
function findObject(name: string): string | undefined {
  try {
    return git('rev-parse', '--verify', name);
  } catch {
    return undefined;
  }
}

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

const foundSeedsFile = path.join(import.meta.dirname, 'found-seeds.json');
