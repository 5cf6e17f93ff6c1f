import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Directory for the cloud assemblies of the suites' apps. */
    assemblies: string;
  }
}

/** The global set-up of the project: creates a directory for cloud assemblies, and removes it after the run. */
export function setup(project: TestProject): () => void {
  const directory = mkdtempSync(path.join(tmpdir(), 'emissor-infra-'));
  project.provide('assemblies', directory);
  return () => rmSync(directory, { recursive: true, force: true });
}
