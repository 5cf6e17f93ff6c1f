import { expect, it } from 'vitest';
import { gatewayMessages } from '../../tools/openapi/responses.ts';
import { languages } from '../generators/languages.ts';
import { generatorVersion, npmVersions } from '../generators/versions.ts';
import { inlineCode, readPage } from '../support/markdown-page.ts';

it('the page about generated clients lists the tested generators and versions', () => {
  const { rows = [] } =
    readPage('docs/en/generated-clients.md').tables.find(({ heading }) => heading === 'Tested generators') ?? {};
  const generators = rows.map(([generator = '', versions]) => [inlineCode(generator)[0], versions]);
  expect(generators).toEqual([
    ...Object.keys(languages).map(name => [name, generatorVersion]),
    ['openapi-typescript', npmVersions['openapi-typescript']],
  ]);
});

it('the page about generated clients lists the statuses that the gateway returns', () => {
  const text = readPage('docs/en/generated-clients.md').lines.join(' ');
  const [sentence = ''] = /A 413, [^.]*gateway[^.]*\./.exec(text) ?? [];
  expect(sentence.match(/\d+/g)?.sort()).toEqual(Object.keys(gatewayMessages));
});
