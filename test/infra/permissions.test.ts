import { describe, expect, it } from 'vitest';
import { isOwn, type Resource, resourcesOf, type StackName, stageTemplates } from './templates.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: Record<string, Record<string, unknown>>;
}

const templates = stageTemplates('prod');
const stacks = Object.keys(templates) as StackName[];
const asList = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

/** `{"Fn::ImportValue": "…Clients67031123Arn…"}` and the like → `Clients`. */
const resourceName = (resource: unknown): string => {
  const text = JSON.stringify(resource).replace(keyId, '{id of Key}');
  if (text.includes('AWS::StackId')) return 'its own stack';
  const exported = /ExportsOutput(?:FnGetAtt|Ref)([A-Za-z]+?)[0-9A-F]{8}/.exec(text)?.[1];
  const local = /"(?:Fn::GetAtt|Ref)":\[?"([A-Za-z]+?)[0-9A-F]{8}"/.exec(text)?.[1];
  const parameter = /:parameter(\/[\w/ {}-]+)/.exec(text)?.[1];
  const index = /\/index\/\w+/.exec(text)?.[0] ?? '';
  return `${parameter ?? exported ?? local ?? text}${index}`;
};

/** The id of the key that secrets are encrypted with, inside a text. */
const keyId =
  /",\{"Fn::Select":\[1,\{"Fn::Split":\["\/",\{"Fn::ImportValue":"Emissor-prod-Data:ExportsOutputFnGetAttKey[0-9A-F]{8}Arn[0-9A-F]{8}"\}\]\}\]\},"/;

/** The value of a condition: as it is, or the resource that it names. */
const valueName = (value: unknown): string => (typeof value === 'string' ? value : resourceName(value));

const condition = (statement: Statement): string =>
  Object.entries(statement.Condition ?? {})
    .flatMap(([operator, operands]) =>
      Object.entries(operands).map(
        ([key, values]) => ` [${operator} ${key.split(':').at(-1)}: ${asList(values).map(valueName).join(', ')}]`,
      ),
    )
    .join('');

const statementsOf = (resources: Record<string, Resource>, roleId: string): Statement[] =>
  Object.values(resources)
    .filter(({ Type, Properties }) => Type === 'AWS::IAM::Policy' && JSON.stringify(Properties.Roles).includes(roleId))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement);

const permissions = (stack: StackName): Record<string, string[]> => {
  const resources = templates[stack].toJSON().Resources as Record<string, Resource>;
  const functions = resourcesOf(templates[stack], 'AWS::Lambda::Function').filter(isOwn);
  return Object.fromEntries(
    functions.map(([id, { Properties }]) => [
      id.replace(/[0-9A-F]{8}$/, ''),
      [
        ...new Set(
          statementsOf(resources, Properties.Role['Fn::GetAtt'][0])
            .flatMap(statement =>
              asList(statement.Action).flatMap(action =>
                asList(statement.Resource).map(
                  resource => `${action} ${resourceName(resource)}${condition(statement)}`,
                ),
              ),
            )
            .filter(line => !line.startsWith('logs:')),
        ),
      ].sort(),
    ]),
  );
};

/** The content of `docs/permissions.md`: a change of permissions changes it in the same commit. */
const document = (): string => {
  const rows = (['Auth', 'Webhooks', 'Delivery', 'Smoke'] as const).flatMap(stack =>
    Object.entries(permissions(stack)).map(
      ([name, lines]) => `| ${stack} | ${name} | ${lines.map(line => `\`${line}\``).join('<br>')} |`,
    ),
  );
  return [
    '# What each function may do',
    '',
    'Action and resource, with the condition in brackets. Besides, each function writes to its own log group.',
    '`ReleasesPreTraffic` runs at deployments only. The CDK’s own function invokes `RotateKeys` at the first deployment.',
    '`ScheduledTest` exists only if `smokeSchedule` is set. The receiver of smoke tests may do nothing.',
    'This page is checked against the templates by `test/infra/permissions.test.ts`; `npx vitest run --project infra -u` rewrites it.',
    '',
    '| stack | function | may |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
};

describe('the permissions of each function', () => {
  it('are those of docs/permissions.md and no others', async () => {
    await expect(document()).toMatchFileSnapshot('../../docs/permissions.md');
  });

  it('are in policies that the page reads, and nowhere else', () => {
    for (const template of Object.values(templates)) {
      const roles = new Map(resourcesOf(template, 'AWS::IAM::Role'));
      for (const [id, { Properties }] of resourcesOf(template, 'AWS::Lambda::Function').filter(isOwn)) {
        const role = Object.keys(roles.get(Properties.Role['Fn::GetAtt'][0])?.Properties ?? {});
        expect(role.sort(), id).toEqual(['AssumeRolePolicyDocument', 'Path']);
      }
      const attached = resourcesOf(template, 'AWS::IAM::ManagedPolicy').filter(
        ([, { Properties }]) => Properties.Roles,
      );
      expect([...attached, ...resourcesOf(template, 'AWS::IAM::RolePolicy')]).toEqual([]);
    }
  });

  it('contain no wildcard, except for the function’s own logs', () => {
    for (const stack of stacks) {
      const resources = templates[stack].toJSON().Resources as Record<string, Resource>;
      for (const [id, { Type, Properties }] of Object.entries(resources)) {
        if (Type !== 'AWS::IAM::Policy' && Type !== 'AWS::IAM::ManagedPolicy') continue;
        for (const statement of Properties.PolicyDocument.Statement as Statement[]) {
          expect(statement.Effect, id).toBe('Allow');
          if (id.startsWith('ReleasesPreTraffic')) continue; // the versions of functions, each named
          expect(JSON.stringify([statement.Action, statement.Resource]), id).not.toContain('*');
        }
      }
    }
  });
});
