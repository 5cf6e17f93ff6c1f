import { execFile } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { url } from './address.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The file that tells that the site is built. */
    site: string;
  }
}

/**
 * Vitest's global set-up of the project: builds the site that the tests look at, as it would be read at an address of its own. It does not wait:
 * all projects' tests start after all set-ups. The file has the error, or nothing, once the site is built.
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
