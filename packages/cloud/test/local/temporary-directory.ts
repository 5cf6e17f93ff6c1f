import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Creates a directory for the tests of a file, and removes it after the last test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'cloud-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  return directory;
}
