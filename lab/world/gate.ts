import { readFileSync } from 'node:fs';
import path from 'node:path';
import { git } from '../checkout.ts';
import type { WorldName } from './world-result.ts';

/** A seed that found a fault before. */
interface FoundSeed extends WorldName {
  /** The violation. */
  readonly found: string;
}

/** Returns the seeds that found faults before. The gate always runs them. */
export function readFoundSeeds(): readonly FoundSeed[] {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, 'found-seeds.json'), 'utf8'));
}

/** Returns the first seed of a commit, derived from its files. Without Git it is 1,000. */
export function firstSeedOfTree(): number {
  try {
    return 1_000 + (Number.parseInt(git('rev-parse', 'HEAD^{tree}').slice(0, 8), 16) % 9_000_000);
  } catch {
    return 1_000;
  }
}
