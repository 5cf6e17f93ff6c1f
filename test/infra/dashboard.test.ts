import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it, vi } from 'vitest';
import { OAuthError } from '../../lambdas/auth/oauth-error.ts';
import { makeAudit } from '../../lambdas/auth/protection/audit.ts';
import { oauthCases } from '../../lambdas/auth/routes.ts';
import { makeHttpHandler } from '../../lambdas/platform/lambda-handler.ts';
import { describeError, makeTelemetry } from '../../lambdas/platform/telemetry.ts';
import { httpRequest } from '../support/http-request.ts';
import { type AlarmProperties, watchedMetrics } from './cloudwatch.ts';
import { resourcesOf, stageTemplates } from './templates.ts';
import { collectMetrics, invoke, startDelivery, throttled } from './watched-stage.ts';

const { Delivery } = stageTemplates('prod');
const [[, dashboard] = ['', undefined], ...others] = resourcesOf(Delivery, 'AWS::CloudWatch::Dashboard');
/** The widgets, with `NAME` for each value that CloudFormation computes. */
const { widgets } = JSON.parse(
  dashboard?.Properties.DashboardBody['Fn::Join'][1]
    .map((part: unknown) => (typeof part === 'string' ? part : 'NAME'))
    .join(''),
) as { widgets: { type: string; properties: { title: string; metrics?: unknown[][] } }[] };
/** The metrics in all graphs as `Namespace Metric dimension=value`. In a graph, a dot repeats the value from the previous metric. */
const shownMetrics = new Set(
  widgets.flatMap(({ properties: { metrics = [] } }) => {
    let previous: unknown[] = [];
    return metrics.flatMap(row => {
      const [...texts] = row.filter(part => typeof part === 'string');
      if (texts.length === 0) return [];
      previous = texts.map((text, at) => (text === '.' ? previous[at] : text));
      const [namespace, name, ...dimensions] = previous as string[];
      const pairs = dimensions.flatMap((dimension, at) => (at % 2 === 0 ? `${dimension}=${dimensions[at + 1]}` : []));
      return [[namespace, name, ...pairs].join(' ')];
    });
  }),
);

/**
 * The metrics of AWS services, from the AWS documentation: "HTTP API metrics", "Types of metrics for Lambda functions" and "Available
 * CloudWatch metrics for Amazon SQS".
 */
const awsMetrics: Readonly<Record<string, readonly string[]>> = {
  'AWS/ApiGateway': ['4xx', '5xx', 'Count', 'IntegrationLatency', 'Latency', 'DataProcessed'],
  'AWS/Lambda': ['Errors'],
  'AWS/SQS': [
    'ApproximateAgeOfOldestMessage',
    'ApproximateNumberOfMessagesDelayed',
    'ApproximateNumberOfMessagesNotVisible',
    'ApproximateNumberOfMessagesVisible',
    'NumberOfEmptyReceives',
    'NumberOfMessagesDeleted',
    'NumberOfMessagesReceived',
    'NumberOfMessagesSent',
    'SentMessageSize',
  ],
};

it('only a stage with customers has a dashboard, with a graph for each part of the service', () => {
  expect(others).toEqual([]);
  expect(resourcesOf(stageTemplates('dev').Delivery, 'AWS::CloudWatch::Dashboard')).toEqual([]);
  const titles = widgets.map(({ properties }) => properties.title);
  expect(titles).toEqual(
    expect.arrayContaining([
      'Tokens',
      'Requests',
      'Events in and out',
      'Failed attempts by receiver',
      'Waiting messages',
    ]),
  );
});

it('the dashboard has a graph for each alarm, except the alarms for releases and the smoke test', () => {
  const graphs = new Set(widgets.map(({ properties }) => properties.title.replace(/ \((?:page|ticket)\)$/, '')));
  const alarms = resourcesOf(stageTemplates('prod'), 'AWS::CloudWatch::Alarm').filter(
    ([id]) => id.startsWith('Alarms') && !id.includes('SmokeFailed'),
  );
  expect(alarms).toHaveLength(12);
  for (const [id, { Properties }] of alarms) {
    expect(graphs).toContain(id.slice('Alarms'.length, -8));
    for (const { namespace, name } of watchedMetrics(Properties as AlarmProperties))
      expect([...shownMetrics].join()).toContain(`${namespace} ${name}`);
  }
});

it('the dashboard shows only metrics that the functions or AWS publish', async () => {
  const metrics = collectMetrics();
  const stage = await startDelivery(metrics);
  stage.publish();
  stage.faults.kms = true;
  await stage.runUntil(Date.now() + 1_000);
  stage.faults.kms = false;
  stage.faults.store = true;
  stage.publish();
  await stage.runUntil(Date.now() + 1_000);
  stage.faults.store = false;
  stage.faults.address = '10.0.0.1';
  await stage.runUntil(Date.now() + 120_000);
  const token = makeTelemetry('token');
  const audit = makeAudit(token);
  const request = { ip: '203.0.113.7', endpoint: 'token' } as const;
  await invoke(
    token,
    async () => {
      audit.recordGrant({ ...request, grant: 'password' });
      audit.recordGrant({ ...request, grant: 'refresh_token' });
      const makeError = OAuthError.from(oauthCases);
      audit.recordRejection(request, makeError('refresh_token_rejected', { reason: 'refresh_token_reused' }));
    },
    undefined,
  );
  const failing = makeHttpHandler(makeTelemetry('webhooks'), async () => ({ statusCode: 503 }));
  await failing(httpRequest({}), { functionVersion: '7' } as never);
  const rotation = makeTelemetry('rotate-keys');
  await invoke(rotation, async () => rotation.count('KeyCreated', 0), undefined);
  rotation.log.error('invocation.failed', describeError(throttled(new QueryCommand({ TableName: 'Keyring' }))));
  vi.useRealTimers();

  const ownMetrics = new Set(metrics.names());
  for (const metric of shownMetrics) {
    const [namespace = '', name = ''] = metric.split(' ');
    if (awsMetrics[namespace]) expect(awsMetrics[namespace]).toContain(name);
    else expect(ownMetrics, metric).toContain(metric);
  }
  expect(shownMetrics.size).toBeGreaterThan(14);
});
