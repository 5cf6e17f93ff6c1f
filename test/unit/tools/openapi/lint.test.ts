import { createConfig, lintFromString } from '@redocly/openapi-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { artefacts } from '../../../../tools/openapi/artefacts.ts';

const documents = [...artefacts()].filter(([file]) => file.endsWith('.openapi.json'));

describe('the rules that Redocly recommends', () => {
  let config: Awaited<ReturnType<typeof createConfig>>;
  beforeAll(async () => {
    config = await createConfig({ extends: ['recommended'] });
  });

  it.each(documents)('hold for %s, warnings included', async (file, source) => {
    const problems = await lintFromString({ source, absoluteRef: file, config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });

  it('are applied', async () => {
    const source = JSON.stringify({
      openapi: '3.1.1',
      info: { title: 'T', version: '1' },
      paths: { '/a': { get: {} } },
    });
    const problems = await lintFromString({ source, absoluteRef: 'broken.json', config });
    expect(problems.map(({ ruleId }) => ruleId)).toContain('operation-summary');
  });
});
