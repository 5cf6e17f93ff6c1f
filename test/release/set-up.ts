import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { synthesise } from '@emissor/local-cloud/testing';
import type { TestProject } from 'vitest/node';
import { beginPreparation } from '../support/preparation.ts';
import { currentRoot, takePreviousRelease } from './previous-release.ts';

/** A release that can be run: its tree, and the cloud assembly that it was synthesised to. */
export interface SynthesisedRelease {
  readonly version: string;
  readonly root: string;
  readonly assembly: string;
}

/** The release that this tree will be, and the one before it. */
export interface Releases {
  readonly current: SynthesisedRelease;
  readonly previous: SynthesisedRelease;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The file that tells the `Releases` once they are there. */
    releases: string;
  }
}

/**
 * Vitest's global set-up of the project: synthesises both releases with the same stage values, for all its suites.
 *
 * @returns what removes them.
 */
export function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-release-'));
  const { outcomeFile, stop } = beginPreparation(() => prepareReleases(folder));
  project.provide('releases', outcomeFile);
  return async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

async function prepareReleases(folder: string): Promise<Releases> {
  const previous = await takePreviousRelease(folder, say);
  const { version } = JSON.parse(readFileSync(path.join(currentRoot, 'package.json'), 'utf8')) as { version: string };
  say(`Synthesising ${previous.version} and ${version} …`);
  const [ours, theirs] = await Promise.all([
    synthesiseIn(path.join(folder, 'current'), { version, root: currentRoot }),
    synthesiseIn(path.join(folder, 'previous-synthesis'), previous),
  ]);
  return { current: ours, previous: theirs };
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function synthesiseIn(
  directory: string,
  { version, root }: { readonly version: string; readonly root: string },
): Promise<SynthesisedRelease> {
  mkdirSync(directory);
  const assembly = path.join(directory, 'cdk.out');
  const logFile = path.join(directory, 'log');
  const signal = new AbortController().signal;
  const app = { root, entry: 'bin/app.ts', context: { stage: 'local', ...stageValues } };
  await synthesise(app, { output: assembly, logFile, signal });
  return { version, root, assembly };
}

/** Short waits, as the end-to-end suite has them, and a slow lane that is slow enough to be left with work. */
const stageValues = { retrySchedule: '1s,1s,1s', attemptTimeout: '3s', slowRate: '1', giveUp: 'always' };
