import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { artefacts, artefactsFolder } from '../../../../tools/openapi/artefacts.ts';

const root = path.join(import.meta.dirname, '../../../..');
const advice = 'run `npm run openapi` and commit what it writes';

describe('the documents in docs/api', () => {
  const generated = artefacts();

  it.each([...generated])('%s is what is generated', (file, content) => {
    const place = path.join(root, file);
    expect(existsSync(place) && readFileSync(place, 'utf8'), advice).toBe(content);
  });

  it('are the generated ones and no others', () => {
    const files = globSync(`${artefactsFolder}/**/*`, { cwd: root, withFileTypes: true }).filter(file => file.isFile());
    const names = files.map(file => path.relative(root, path.join(file.parentPath, file.name)));
    const documents = [...generated.keys()].filter(file => file.startsWith(artefactsFolder));
    expect(names.toSorted(), advice).toEqual(documents.toSorted());
  });
});

describe('npm run openapi', () => {
  const command = path.join(root, 'tools/openapi/artefacts.ts');
  it.each([
    ['--auth a.example --base https://b.example', 2, /^.*"a\.example" does not start with https.*\n$/],
    ['--auth https://a.example', 2, /^.*both URLs are required.*\n$/],
    [`--auth https://a.example --base https://b.example --out ${command}`, 1, /^Could not write the documents: .*\n$/],
  ])('explains in one line why it ignores %s', (words, status, problem) => {
    const { stderr, ...run } = spawnSync(process.execPath, [command, ...words.split(' ')], { encoding: 'utf8' });
    expect({ status: run.status, stderr }).toEqual({ status, stderr: expect.stringMatching(problem) });
  });
});
