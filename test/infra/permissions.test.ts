import { describe, expect, it } from 'vitest';
import {
  isServiceFunction,
  type Resource,
  resolveIntrinsics,
  resourcesOf,
  type StackName,
  stageTemplates,
  withoutHash,
} from './templates.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: Record<string, Record<string, unknown>>;
}

const templates = stageTemplates('prod');
const stacks = Object.keys(templates) as StackName[];
const asList = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

/** Returns a readable name for a resource or the value of a condition. */
const nameOf = (value: unknown): string =>
  String(resolveIntrinsics(value))
    .replace('AWS::StackId', 'its own stack')
    .replace(/^arn:.*:(?:parameter(?=\/)|deploymentgroup:ReleasesApplication\/)/, '')
    .replace(/1 of (\w+)\.Arn by \//, '{id of $1}')
    .replace(/\.Arn\b/, '');

const condition = (statement: Statement): string =>
  Object.entries(statement.Condition ?? {})
    .flatMap(([operator, operands]) =>
      Object.entries(operands).map(
        ([key, values]) => ` [${operator} ${key.split(':').at(-1)}: ${asList(values).map(nameOf).join(', ')}]`,
      ),
    )
    .join('');

const statementsOf = (resources: Record<string, Resource>, roleId: string): Statement[] =>
  Object.values(resources)
    .filter(({ Type, Properties }) => Type === 'AWS::IAM::Policy' && JSON.stringify(Properties.Roles).includes(roleId))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement);

const permissions = (stack: StackName): Record<string, string[]> => {
  const resources = templates[stack].toJSON().Resources as Record<string, Resource>;
  const functions = resourcesOf(templates[stack], 'AWS::Lambda::Function').filter(isServiceFunction);
  return Object.fromEntries(
    functions.map(([id, { Properties }]) => [
      withoutHash(id),
      [
        ...new Set(
          statementsOf(resources, Properties.Role['Fn::GetAtt'][0])
            .flatMap(statement =>
              asList(statement.Action).flatMap(action =>
                asList(statement.Resource).map(resource => `${action} ${nameOf(resource)}${condition(statement)}`),
              ),
            )
            .filter(line => !line.startsWith('logs:')),
        ),
      ].sort(),
    ]),
  );
};

/** Returns the content of `docs/permissions.md`. */
const document = (): string => {
  const rows = (['Auth', 'Webhooks', 'Delivery', 'Smoke'] as const).flatMap(stack =>
    Object.entries(permissions(stack)).map(
      ([name, lines]) => `| ${stack} | ${name} | ${lines.map(line => `\`${line}\``).join('<br>')} |`,
    ),
  );
  return [
    '# Permissions of each function',
    '',
    'Each row lists actions and resources, with conditions in brackets. `:*` matches all versions of a function. All functions also write logs.',
    '`ReleasesPreTraffic` runs only during deployments. A CDK function invokes `RotateKeys` on the first deployment.',
    '`ScheduledTest` exists only if the stage sets `smokeSchedule`. The smoke-test receiver has no permissions.',
    '`test/infra/permissions.test.ts` compares this page with the templates. `npx vitest run --project infra -u` rewrites the page.',
    '',
    '| stack | function | may |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
};

describe('the permissions of each function', () => {
  it('match docs/permissions.md', async () => {
    await expect(document()).toMatchFileSnapshot('../../docs/permissions.md');
  });

  it('are all in the inline policies that docs/permissions.md lists', () => {
    for (const template of Object.values(templates)) {
      const roles = new Map(resourcesOf(template, 'AWS::IAM::Role'));
      for (const [id, { Properties }] of resourcesOf(template, 'AWS::Lambda::Function').filter(isServiceFunction)) {
        const role = Object.keys(roles.get(Properties.Role['Fn::GetAtt'][0])?.Properties ?? {});
        expect(role.sort(), id).toEqual(['AssumeRolePolicyDocument', 'Path']);
      }
      const attached = resourcesOf(template, 'AWS::IAM::ManagedPolicy').filter(
        ([, { Properties }]) => Properties.Roles,
      );
      expect([...attached, ...resourcesOf(template, 'AWS::IAM::RolePolicy')]).toEqual([]);
    }
  });

  it('contain no wildcards, except for function versions in the pre-traffic hook', () => {
    for (const stack of stacks) {
      const resources = templates[stack].toJSON().Resources as Record<string, Resource>;
      for (const [id, { Type, Properties }] of Object.entries(resources)) {
        if (Type !== 'AWS::IAM::Policy' && Type !== 'AWS::IAM::ManagedPolicy') continue;
        for (const statement of Properties.PolicyDocument.Statement as Statement[]) {
          expect(statement.Effect, id).toBe('Allow');
          if (id.startsWith('ReleasesPreTraffic')) continue; // matches the versions of specific functions
          expect(JSON.stringify([statement.Action, statement.Resource]), id).not.toContain('*');
        }
      }
    }
  });
});
