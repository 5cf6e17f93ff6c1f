import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { artefacts, artefactsFolder } from '../../../../tools/openapi/artefacts.ts';

const root = path.join(import.meta.dirname, '../../../..');
const advice = 'run `npm run openapi` and commit what it writes';

describe('the documents in docs/api', () => {
  const generated = artefacts();

  it.each([...generated])('%s is what is generated', (file, content) => {
    expect(read(file), advice).toBe(content);
  });

  it('are the generated ones and no others', () => {
    const documents = [...generated.keys()].filter(file => file.startsWith(artefactsFolder));
    expect(filesIn(artefactsFolder), advice).toEqual(documents.sort());
  });

  it('are the same each time', () => {
    expect([...artefacts()]).toEqual([...generated]);
  });
});

describe('npm run openapi', () => {
  it.each([
    [
      'an address that is no URL',
      ['--auth', 'auth.example.com', '--base', 'https://api.example.com'],
      2,
      '"auth.example.com" is not a URL',
    ],
    ['one address alone', ['--auth', 'https://auth.example.com'], 2, 'the addresses of a stage are missing'],
    [
      'a folder that cannot be made',
      ['--auth', 'https://a.example', '--base', 'https://b.example', '--out', import.meta.filename],
      1,
      'cannot be written',
    ],
  ])('with %s says so in one line', (_case, words, status, told) => {
    const run = spawnSync(process.execPath, [path.join(root, 'tools/openapi/artefacts.ts'), ...words], {
      encoding: 'utf8',
    });
    expect(run.status).toBe(status);
    expect(run.stderr.trim().split('\n')).toEqual([expect.stringContaining(told)]);
  });
});

function read(file: string): string | undefined {
  try {
    return readFileSync(path.join(root, file), 'utf8');
  } catch {
    return undefined;
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.relative(root, path.join(entry.parentPath, entry.name)))
    .sort();
}
