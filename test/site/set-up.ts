import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { beginPreparation } from '../support/preparation.ts';
import { url } from './address.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The file that tells that the site is built. */
    site: string;
  }
}

/** Vitest's global set-up of the project: builds the site that the tests look at, as it would be read at an address of its own. */
export function setup(project: TestProject): () => Promise<void> {
  const words = ['site/site.ts', '--build-only', '--url', url];
  const { outcomeFile, stop } = beginPreparation(async () => void (await promisify(execFile)(process.execPath, words)));
  project.provide('site', outcomeFile);
  return stop;
}
