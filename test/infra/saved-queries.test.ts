import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reuseReason } from '../../lambdas/auth/protection/audit.ts';
import { describeError } from '../../lambdas/platform/telemetry.ts';
import { savedQueries } from '../../lib/saved-queries.ts';
import { isOwn, resourcesOf, stageTemplates } from './templates.ts';

const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
const templates = stageTemplates('prod');

// Bug: nothing told how the log is found that a step names.
describe('the logs and schedules of the runbook', () => {
  const rows = [...runbook.matchAll(/^\| `Emissor-prod-(\w+)` \| (.*) \| (.*?) ?\|$/gm)];
  const told = rows.map(
    ([, stack = '', logs = '', schedule = '']) => [stack, namesIn(logs), namesIn(schedule)] as const,
  );

  // Bug: `SweepEveryMinute` began the name of a permission, too, and AWS was given two names in one.
  it.each(told)('of %s are found by the commands there, one by each', (stack, logs, schedules) => {
    const { [stack as keyof typeof templates]: template } = templates;
    const [log = '', schedule = ''] = [...runbook.matchAll(/&& ResourceType=='([\w:]+)'/g)].map(
      ([, type = '']) => type,
    );
    const found = (type: string, name: string) => resourcesOf(template, type).filter(([id]) => id.startsWith(name));
    for (const name of logs) expect(found(log, name), name).toHaveLength(1);
    for (const name of schedules) expect(found(schedule, name), name).toHaveLength(1);
  });

  it.each(told)('of %s are all that there are', (stack, logs, schedules) => {
    const { [stack as keyof typeof templates]: template } = templates;
    const groups = resourcesOf(template, 'AWS::Logs::LogGroup').filter(isOwn);
    const rules = resourcesOf(template, 'AWS::Events::Rule');
    expect(withoutHashes(groups).filter(name => !ofDeployments.includes(name))).toEqual(logs.toSorted());
    expect(withoutHashes(rules)).toEqual(schedules);
  });

  it('are those that its steps name', () => {
    const named = [...runbook.matchAll(/\[log\]\(#logs\)\s+of `(\w+)`/g)].map(([, name]) => `${name}Logs`);
    expect(named).toContain('SweepLogs');
    expect(told.flatMap(([, logs]) => logs)).toEqual(expect.arrayContaining(named));
    for (const [step] of runbook.matchAll(/the\s+log\s+of\s+`\w+`/g)) expect.unreachable(`${step} leads nowhere.`);
  });
});

describe('saved queries', () => {
  it.each([
    ['auth', templates.Auth],
    ['webhooks', templates.Webhooks],
    ['delivery', templates.Delivery],
  ] as const)('of %s search every function of their stack, and are in the runbook', (area, template) => {
    const functions = resourcesOf(template, 'AWS::Lambda::Function').filter(isOwn);
    const groups = functions.map(([, { Properties }]) => Properties.LoggingConfig.LogGroup);
    const queries = resourcesOf(template, 'AWS::Logs::QueryDefinition')
      .map(([, { Properties }]) => Properties)
      .filter(({ Name }) => Name.startsWith(`Emissor/prod/${area}/`));
    const names = Object.keys(savedQueries[area]);
    expect(queries.map(({ Name }) => Name).sort()).toEqual(names.map(name => `Emissor/prod/${area}/${name}`).sort());
    for (const { LogGroupNames } of queries) expect(LogGroupNames).toEqual(expect.arrayContaining(groups));
    for (const name of names) expect(runbook).toContain(`\`${area}/${name}\``);
  });

  it('find a request by its id in the access logs and in the logs of all functions behind the APIs', () => {
    const [query] = resourcesOf(templates.Delivery, 'AWS::Logs::QueryDefinition').filter(
      ([, { Properties }]) => Properties.Name === 'Emissor/prod/one request',
    );
    const { QueryString, LogGroupNames } = query?.[1].Properties ?? {};
    expect(QueryString).toContain("filter requestId = 'REPLACE_ME'");
    const logs = ['AuthEndpoint', 'BaseEndpoint', 'TokenLogs', 'RevokeLogs', 'IntrospectLogs', 'DiscoveryLogs'];
    for (const name of [...logs, 'WebhooksApiLogs', 'DeliveriesApiLogs'])
      expect(
        LogGroupNames.filter((group: object) => JSON.stringify(group).includes(name)),
        name,
      ).toHaveLength(1);
    expect(runbook).toContain('`one request`');
  });

  // Bug: of a throttled store they showed neither why it was, nor for whom, which the runbook reads there.
  it.each(['auth', 'webhooks', 'delivery'] as const)('of %s show why a store was throttled, and for whom', area => {
    const { fields } = savedQueries[area]['internal errors'] ?? {};
    expect(fields).toEqual(expect.arrayContaining(['table', 'index', 'throttled.0', 'account']));
  });

  // Bug: a sweep fails with an error that only names others, and its row said "Error".
  it.each(['auth', 'webhooks', 'delivery'] as const)('of %s show the same of the cause of an error', area => {
    const throttled = { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } };
    const { cause } = describeError(new Error('It failed.', { cause: Object.assign(new Error(), throttled) }));
    const told = Object.keys(cause ?? {}).filter(name => name !== 'at');
    expect(told).toEqual(['errorName', 'httpStatus']);
    const { fields } = savedQueries[area]['internal errors'] ?? {};
    const wanted = [...told, 'table', 'index', 'throttled.0'].map(name => `cause.${name}`);
    expect(fields).toEqual(expect.arrayContaining(wanted));
  });

  // Bug: the step read the newest 200 refusals of any kind, and a flood of them hid whose token was used again.
  it('show whose refresh token was used again, and no other refusal', () => {
    const [, step = ''] = runbook.split('### RefreshTokenReuse\n');
    const [, name = ''] = /`auth\/([a-z ]+)`/.exec(step) ?? [];
    const { fields, filterStatements } = savedQueries.auth[name] ?? {};
    expect(fields).toEqual(expect.arrayContaining(['clientId', 'userId', 'sessionId', 'ip']));
    expect(filterStatements).toEqual([`message = 'token.refused' and reason = '${reuseReason}'`]);
  });

  it('keep their patterns, and have one command on a line', () => {
    const queries = resourcesOf(templates.Delivery, 'AWS::Logs::QueryDefinition').map(
      ([, { Properties }]) => Properties,
    );
    const byName = (end: string): string => queries.find(({ Name }) => Name.endsWith(end))?.QueryString;
    expect(byName('/events that were not sent').split('\n| ')).toContain('filter message like /^event\\./');
    expect(byName('/failed attempts by receiver').split('\n| ')).toEqual([
      "filter message = 'delivery.attempt'",
      "filter result != 'delivered'",
      'stats count(*) as attempts by host, result, cause, status, account, event',
      'sort attempts desc',
    ]);
  });
});

/** Logs of functions that deploy. */
const ofDeployments = ['FirstKeysLogs', 'ReleasesPreTrafficLogs'];

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
}

/** Returns the ids of resources as the code names them. */
function withoutHashes(resources: ReturnType<typeof resourcesOf>): readonly string[] {
  return resources.map(([id]) => id.slice(0, -8)).toSorted();
}
