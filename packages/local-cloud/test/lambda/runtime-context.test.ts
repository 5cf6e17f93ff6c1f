import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { writeRuntimeFiles } from '../../src/lambda/runtime-context.ts';

it('the files that each function process loads do not import node:http, which loads undici', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'local-cloud-runtime-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { bootstrapFile, preloadUrl } = await writeRuntimeFiles(
    directory,
    { terminatorPort: 1, builtIn: [], mappings: [] },
    '',
  );
  for (const file of [bootstrapFile, fileURLToPath(preloadUrl.split('?')[0] ?? '')]) {
    const imported = [...readFileSync(file, 'utf8').matchAll(/from "([^"]+)"/g)].map(([, name]) => name);
    expect(imported).not.toEqual([]);
    expect(imported).not.toContain('node:http');
  }
});
