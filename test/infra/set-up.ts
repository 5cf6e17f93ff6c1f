import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The directory for the cloud assemblies of the tests. */
    assemblies: string;
  }
}

/** Creates a directory for cloud assemblies before the tests of the project, and removes the directory after the run. */
export function setup(project: TestProject): () => void {
  const directory = mkdtempSync(path.join(tmpdir(), 'emissor-infra-'));
  project.provide('assemblies', directory);
  return () => rmSync(directory, { recursive: true, force: true });
}
