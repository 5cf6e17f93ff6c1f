import { execFile } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { url } from './address.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The file that exists once the site is built. */
    site: string;
  }
}

/**
 * The global set-up of the project: starts to build the site, and does not wait, because the tests of all projects start after all set-ups.
 * The file has the error of the build, or is empty.
 */
export function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-site-'));
  const outcomeFile = path.join(folder, 'outcome');
  const building = promisify(execFile)(process.execPath, ['site/site.ts', '--build-only', '--url', url])
    .then(() => '', String)
    .then(outcome => {
      writeFileSync(`${outcomeFile}.draft`, outcome);
      renameSync(`${outcomeFile}.draft`, outcomeFile);
    });
  project.provide('site', outcomeFile);
  return () => building.then(() => rmSync(folder, { recursive: true }));
}
