import { execFile } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { url } from './address.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the file that reports the outcome of the build. */
    site: string;
  }
}

/**
 * Starts the site build without waiting for it, because the tests in all projects wait for every global set-up.
 * Writes the build error to the outcome file, or an empty file on success.
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
