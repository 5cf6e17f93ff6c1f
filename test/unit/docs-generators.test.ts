import { expect, it } from 'vitest';
import { languages } from '../generators/languages.ts';
import { generatorVersions, npmVersions } from '../generators/versions.ts';
import { inlineCode, readPage } from '../support/markdown-page.ts';

it('the page of generated clients names the generators and versions that the gate proves', () => {
  const { rows = [] } =
    readPage('docs/en/generated-clients.md').tables.find(({ heading }) => heading === 'What is tried') ?? {};
  const told = rows.map(([generator = '', versions]) => [inlineCode(generator)[0], versions]);
  expect(told).toEqual([
    ...Object.keys(languages).map(name => [name, Object.values(generatorVersions).join(', ')]),
    ['openapi-typescript', npmVersions['openapi-typescript']],
  ]);
});
