import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { customMetrics } from '../../../lab/cost/metrics.ts';
import { oauthCases } from '../../../lambdas/auth/oauth-error.ts';

const root = new URL('../../../', import.meta.url);
const sources = ['lambdas/**/*.ts', 'lib/**/*.ts'].flatMap(pattern =>
  globSync(pattern, { cwd: root }).map(path => readFileSync(new URL(path, root), 'utf8')),
);
const codes = new Set<string>(Object.values(oauthCases).map(([, code]) => code)); // counted by a name that is made of it
const names = customMetrics().flatMap(({ ordinary, faults }) => [...ordinary, ...faults]);
const named = new Set(names.filter(name => !codes.has(name)).map(name => name.replace(' by version', '')));

it('docs/cost.md knows each metric that the functions write by its name', () => {
  const written = sources.flatMap(source =>
    [...source.matchAll(/\b(?:count|measure|addMetric)\([^()]*?'([A-Z]\w+)'/g)].map(([, name]) => name),
  );
  expect(new Set(written).size).toBeGreaterThan(20);
  for (const name of written) expect(named).toContain(name);
});

it('and none that stands nowhere', () => {
  for (const name of named)
    expect(
      sources.some(source => source.includes(`'${name}'`)),
      name,
    ).toBe(true);
});
