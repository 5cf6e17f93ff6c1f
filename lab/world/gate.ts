import { readFileSync } from 'node:fs';
import path from 'node:path';
import { git } from '../checkout.ts';
import type { WorldName } from './world-result.ts';

/** A seed that detected a fault in the past. */
interface FoundSeed extends WorldName {
  readonly fault: string;
}

/** Returns the seeds that detected faults in the past. The gate always runs them. */
export function readFoundSeeds(): readonly FoundSeed[] {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, 'found-seeds.json'), 'utf8'));
}

/** Returns the gate's first seed, derived from the files of the current commit. Without Git, returns 1,000. */
export function firstSeedOfTree(): number {
  try {
    return 1_000 + (Number.parseInt(git('rev-parse', 'HEAD^{tree}').slice(0, 8), 16) % 9_000_000);
  } catch {
    return 1_000;
  }
}
