import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { command } from './commands.ts';
import { npmPackages } from './downloads.ts';
import { documentFile, documentNames } from './languages.ts';
import { npmVersions } from './versions.ts';

describe(`Spectral ${npmVersions['@stoplight/spectral-cli']}: the rules that it recommends`, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'emissor-spectral-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(documentNames)('%s.openapi.json breaks none', async name => {
    expect(await errorsOf(documentFile(name))).toEqual([]);
  });

  it('are applied: a link that is relative breaks one', async () => {
    const document = JSON.parse(readFileSync(documentFile('auth'), 'utf8'));
    const file = path.join(folder, 'relative.json');
    writeFileSync(file, JSON.stringify({ ...document, externalDocs: { url: '../en/README.md' } }));
    expect(await errorsOf(file)).toEqual(['oas3-schema externalDocs.url']);
  });

  async function errorsOf(file: string): Promise<string[]> {
    const ruleset = path.join(folder, 'ruleset.json');
    writeFileSync(ruleset, JSON.stringify({ extends: ['spectral:oas'] }));
    const spectral = path.join(await npmPackages(), 'node_modules/.bin/spectral');
    const results = path.join(folder, 'results.json');
    const options = ['--ruleset', ruleset, '--format', 'json', '--output', results, '--quiet'];
    // It ends with 1 where it found an error: what it wrote counts.
    await command([spectral, 'lint', file, ...options]).catch((error: unknown) => error);
    const found: readonly Result[] = JSON.parse(readFileSync(results, 'utf8'));
    rmSync(results);
    return found.filter(({ severity }) => severity === 0).map(({ code, path }) => `${code} ${path.join('.')}`);
  }
});

/** What Spectral tells of one place. Severity 0 is an error. */
interface Result {
  readonly code: string;
  readonly path: readonly string[];
  readonly severity: number;
}
