import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reuseReason } from '../../lambdas/auth/protection/audit.ts';
import { describeError } from '../../lambdas/platform/telemetry.ts';
import { savedQueries } from '../../lib/saved-queries.ts';
import { isServiceFunction, resolveIntrinsics, resourcesOf, type StackName, stageTemplates } from './templates.ts';

const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
const templates = stageTemplates('prod');

// Bug: the runbook did not explain how to find a log that a step mentions.
describe('the table of logs and schedules in the runbook', () => {
  const rows = [...runbook.matchAll(/^\| `Emissor-prod-(\w+)` \| (.*) \| (.*?) ?\|$/gm)].map(
    ([, stack = '', logs = '', schedules = '']) => [stack as StackName, namesIn(logs), namesIn(schedules)] as const,
  );

  // Bug: the name of a permission also starts with `SweepEveryMinute`, so the command passed two names to AWS.
  it.each(rows)('lists all logs and schedules of stack %s, and its commands find them', (stack, logs, schedules) => {
    const types = [...runbook.matchAll(/&& ResourceType=='([\w:]+)'/g)].map(([, type = '']) => type);
    expect(types).toEqual(['AWS::Logs::LogGroup', 'AWS::Events::Rule']);
    const [groups = [], rules = []] = types.map(type =>
      resourcesOf(templates[stack], type)
        .filter(isServiceFunction)
        .map(([id]) => id),
    );
    const withoutHashes = (ids: readonly string[]) => ids.map(id => id.slice(0, -8)).toSorted();
    expect(withoutHashes(groups).filter(name => !deploymentLogs.includes(name))).toEqual(logs.toSorted());
    expect(withoutHashes(rules)).toEqual(schedules);
    for (const name of logs) expect(groups.filter(id => id.startsWith(name))).toHaveLength(1);
  });

  it('lists the logs that the steps of the runbook link to', () => {
    const linked = [...runbook.matchAll(/\[log\]\(#logs\)\s+of `(\w+)`/g)].map(([, name]) => `${name}Logs`);
    expect(linked).toContain('SweepLogs');
    expect(rows.flatMap(([, logs]) => logs)).toEqual(expect.arrayContaining(linked));
    expect(runbook).not.toMatch(/the\s+log\s+of\s+`\w+`/);
  });
});

describe('saved queries', () => {
  it.each([
    ['auth', templates.Auth],
    ['webhooks', templates.Webhooks],
    ['delivery', templates.Delivery],
  ] as const)('of %s search the logs of every function of their stack, and are in the runbook', (area, template) => {
    const functions = resourcesOf(template, 'AWS::Lambda::Function').filter(isServiceFunction);
    const groups = functions.map(([, { Properties }]) => Properties.LoggingConfig.LogGroup);
    const queries = resourcesOf(template, 'AWS::Logs::QueryDefinition')
      .map(([, { Properties }]) => Properties)
      .filter(({ Name }) => Name.startsWith(`Emissor/prod/${area}/`));
    const names = Object.keys(savedQueries[area]);
    expect(queries.map(({ Name }) => Name).sort()).toEqual(names.map(name => `Emissor/prod/${area}/${name}`).sort());
    for (const { LogGroupNames } of queries) expect(LogGroupNames).toEqual(expect.arrayContaining(groups));
    for (const name of names) expect(runbook).toContain(`\`${area}/${name}\``);
  });

  it('include a search by request id in the access logs and the logs of all functions behind the APIs', () => {
    const [query] = resourcesOf(templates.Delivery, 'AWS::Logs::QueryDefinition').filter(
      ([, { Properties }]) => Properties.Name === 'Emissor/prod/one request',
    );
    const { QueryString, LogGroupNames } = query?.[1].Properties ?? {};
    expect(QueryString).toContain("filter requestId = 'REPLACE_ME'");
    const functions = ['Token', 'Revoke', 'Introspect', 'Discovery', 'WebhooksApi', 'DeliveriesApi'];
    const names = ['AuthEndpointAccessLogs', 'BaseEndpointAccessLogs', ...functions.map(name => `${name}Logs`)];
    expect(resolveIntrinsics(LogGroupNames).toSorted()).toEqual(names.toSorted());
    expect(runbook).toContain('`one request`');
  });

  // Bug: the queries did not show the cause of throttling and the account, although the runbook refers to both. The fields of causes
  // were also missing. The error from a failed sweep only wraps its cause, so its row showed only "Error".
  it.each(['auth', 'webhooks', 'delivery'] as const)('of %s show the cause of throttling and the account', area => {
    const throttled = { name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } };
    const { cause } = describeError(new Error('It failed.', { cause: Object.assign(new Error(), throttled) }));
    const causeNames = Object.keys(cause ?? {}).filter(name => name !== 'at');
    expect(causeNames).toEqual(['errorName', 'httpStatus']);
    const storeFields = ['table', 'index', 'throttled.0'];
    const causeFields = [...causeNames, ...storeFields].map(name => `cause.${name}`);
    const { fields } = savedQueries[area]['internal errors'] ?? {};
    expect(fields).toEqual(expect.arrayContaining([...storeFields, 'account', ...causeFields]));
  });

  // Bug: the query returned the newest 200 rejections of any kind, so other rejections hid the user of the token.
  it('show the user of a reused refresh token, and no other rejections', () => {
    const [, step = ''] = runbook.split('### RefreshTokenReuse\n');
    const [, name = ''] = /`auth\/([a-z ]+)`/.exec(step) ?? [];
    const { fields, filterStatements } = savedQueries.auth[name] ?? {};
    expect(fields).toEqual(expect.arrayContaining(['clientId', 'userId', 'sessionId', 'ip']));
    expect(filterStatements).toEqual([`message = 'token.refused' and reason = '${reuseReason}'`]);
  });

  it('preserve their patterns, and have one command per line', () => {
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

/** The logs of functions that only deployments invoke. */
const deploymentLogs = ['FirstKeysLogs', 'ReleasesPreTrafficLogs'];

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
}
