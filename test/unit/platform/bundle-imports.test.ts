import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleHandler } from '../../../lib/constructs/bundle.ts';

describe('the bundle of the delivery functions', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'emissor-bundle-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it('imports neither node:process nor node:util, each of which took milliseconds of its start', () => {
    const file = join(directory, 'index.mjs');
    bundleHandler('lambdas/delivery/worker/deliver.handler.ts', file);
    const imported = [...readFileSync(file, 'utf8').matchAll(/from"([^"]+)"/g)].map(([, name]) => name);
    expect(imported).toContain('node:crypto');
    expect(imported).not.toContain('node:process');
    expect(imported).not.toContain('node:util');
  });
});
