import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import released from '../release/previous.json' with { type: 'json' };
import { casesOf } from '../support/sample.ts';
import { authDomain, baseDomain, type StackName, stageTemplates } from './templates.ts';

/**
 * The imports of the previous release's templates, by the stack that exports them, in every combination of what may be switched.
 * A deployment updates the exporting stack first, and AWS refuses to remove an export while a deployed stack imports it.
 *
 * Renew it in the commit that makes a release, from the release's own tree, once `test/release/previous.json` names it:
 * `RENEW_IMPORTS=1 npx vitest run --project infra test/infra/exports.test.ts`.
 */
const file = new URL('previous-imports.json', import.meta.url);

const combinations: readonly [string, Record<string, unknown>][] = [
  ['no domain of its own', {}],
  ['a domain for auth', authDomain],
  ['a domain for the API', baseDomain],
  ['no gradual releases and no schedule of smoke tests', { gradual: false, smokeSchedule: undefined }],
  ['domains for both', { ...authDomain, ...baseDomain }],
  [
    'domains that are prepared',
    { ...authDomain, ...baseDomain, authDomainRole: 'prepared', baseDomainRole: 'prepared' },
  ],
  ['all that can be switched on', { ...authDomain, ...baseDomain, encryption: 'customer-managed' }],
  [
    'domains beside the gateway’s hosts',
    { ...authDomain, ...baseDomain, authDomainRole: 'primary', baseDomainRole: 'primary' },
  ],
];

type Stage = ReturnType<typeof stageTemplates>;
const stageWith = (values: Record<string, unknown>): Stage => stageTemplates('prod', values);
const stacks = Object.keys(stageWith({})) as StackName[];

/** Returns the names that the stage's stacks import from one of them. */
const importsFrom = (stage: Stage, exporter: StackName): string[] => {
  const text = JSON.stringify(stacks.map(name => stage[name].toJSON()));
  const names = [...text.matchAll(new RegExp(`"Fn::ImportValue":"Emissor-prod-${exporter}:(\\w+)"`, 'g'))];
  return names.map(([, name = '']) => name);
};

const exportsOf = (stage: Stage, name: StackName): string[] =>
  Object.values((stage[name].toJSON().Outputs ?? {}) as Record<string, { Export?: { Name: string } }>).flatMap(
    ({ Export }) => (Export ? [Export.Name.replace(`Emissor-prod-${name}:`, '')] : []),
  );

if (process.env.RENEW_IMPORTS) {
  const imported = stacks.map(name => {
    const all = combinations.flatMap(([, values]) => importsFrom(stageWith(values), name));
    return [name, [...new Set(all)].sort()] as const;
  });
  const { commit } = released;
  writeFileSync(file, `${JSON.stringify({ commit, ...Object.fromEntries(imported) }, undefined, 2)}\n`);
}

const previous = JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<StackName, string[]>> & { commit?: string };

// Bug: the imports were older than the release, and so without those of the stack for smoke tests.
it('the imports are those of the release that is deployed', () => {
  expect(previous.commit).toBe(released.commit);
  for (const name of ['Data', 'Delivery'] as const) expect(previous[name], name).toContainEqual(expect.any(String));
});

describe.each(casesOf(combinations, 3))('a stage with %s', (_which, values) => {
  it('exports all that the previous release imports', () => {
    for (const name of stacks)
      expect(exportsOf(stageWith(values), name)).toEqual(expect.arrayContaining(previous[name] ?? []));
  });

  it('exports the same as a stage without, so that it can be switched on and off', () => {
    for (const name of stacks)
      expect(exportsOf(stageWith(values), name).sort()).toEqual(exportsOf(stageWith({}), name).sort());
  });
});
