import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { savedQueries } from '../../lib/saved-queries.ts';
import { resourcesOf, stageTemplates } from './templates.ts';

const { Data, ...others } = stageTemplates('prod');
const alarms = Object.values(others).flatMap(template => resourcesOf(template, 'AWS::CloudWatch::Alarm'));
const named = (part: string) => alarms.find(([id]) => id.includes(part))?.[1].Properties;

/** A logical id without the hash that the CDK puts at its end. */
const bare = (id: string): string => id.replace(/[0-9A-F]{8}$/, '');

/** The numbers that SQS reports of a queue for one minute; an idle queue reports none. */
type Minute = Partial<Record<'sent' | 'visible' | 'inFlight', number>>;

/** The few functions of CloudWatch's metric math that are used here, over a series of minutes. */
const minuteByMinute =
  (expression: string) =>
  (minutes: readonly Minute[]): number[] => {
    const series = (name: keyof Minute) => minutes.map(minute => minute[name]);
    const combine = (one: unknown, other: number[], by: (a: number, b: number) => number) =>
      other.map((value, at) => by((one as number[])[at] ?? Number.NaN, value));
    const FILL = (values: (number | undefined)[], by: number) => values.map(value => value ?? by);
    const DIFF = (values: number[]) => values.map((value, at) => value - (values[at - 1] ?? Number.NaN));
    expect(expression).toBe('FILL(sent, 0) + IF(DIFF(FILL(visible, 0) + FILL(inFlight, 0)) > 0, 1, 0)');
    const held = combine(FILL(series('visible'), 0), FILL(series('inFlight'), 0), (a, b) => a + b);
    const grown = DIFF(held).map(value => (value > 0 ? 1 : 0));
    return combine(FILL(series('sent'), 0), grown, (a, b) => a + b).flatMap((value, at) => (value > 0 ? [at] : []));
  };

describe('alarms', () => {
  it('watch these metrics and no others', () => {
    const lasting = alarms.filter(([id]) => !id.startsWith('Releases')); // test/infra/gradual-releases.test.ts has these
    const single = lasting.filter(([, { Properties }]) => Properties.Metrics === undefined);
    const watched = single.map(([id, { Properties }]) => {
      const dimensions = Properties.Dimensions.map(
        ({ Name, Value }: { Name: string; Value: unknown }) =>
          `${Name} ${typeof Value === 'string' ? Value : bare(JSON.stringify(Value).match(/"([A-Za-z]+[0-9A-F]{8})"/)?.[1] ?? '')}`,
      );
      return `${bare(id).replace(/^Alarms/, '')}: ${Properties.Namespace} ${Properties.MetricName} [${dimensions.join(', ')}]`;
    });
    expect(watched).toEqual([
      'RequestsFail: Emissor/prod RequestFailed [functions http]',
      'TokenCrashes: AWS/Lambda Errors [FunctionName Token]',
      'TokenThrottles: AWS/Lambda Throttles [FunctionName Token]',
      'RefreshTokenReuse: Emissor/prod RefreshTokenReuse [service token]',
      'InvalidGrantSurge: Emissor/prod InvalidGrant [service token]',
      'KeyRotationFailures: AWS/Lambda Errors [FunctionName RotateKeys]',
      'WebhooksApiCrashes: AWS/Lambda Errors [FunctionName WebhooksApi]',
      'WebhooksApiThrottles: AWS/Lambda Throttles [FunctionName WebhooksApi]',
      'DeliverFirstCrashes: AWS/Lambda Errors [FunctionName DeliverFirst]',
      'DeliverFirstBlocked: Emissor/prod Blocked [service deliver-first]',
      'DeliverFirstInternalErrors: Emissor/prod InternalError [service deliver-first]',
      'DeliverFirstDeferred: Emissor/prod MessageDeferred [service deliver-first]',
      'DeliverFirstBacklog: AWS/SQS ApproximateAgeOfOldestMessage [QueueName EventsQueue]',
      'DeliverRetryCrashes: AWS/Lambda Errors [FunctionName DeliverRetry]',
      'DeliverRetryBlocked: Emissor/prod Blocked [service deliver-retry]',
      'DeliverRetryInternalErrors: Emissor/prod InternalError [service deliver-retry]',
      'DeliverRetryDeferred: Emissor/prod MessageDeferred [service deliver-retry]',
      'DeliverRetryBacklog: AWS/SQS ApproximateAgeOfOldestMessage [QueueName RetryQueue]',
      'DeliverSlowCrashes: AWS/Lambda Errors [FunctionName DeliverSlow]',
      'DeliverSlowBlocked: Emissor/prod Blocked [service deliver-slow]',
      'DeliverSlowInternalErrors: Emissor/prod InternalError [service deliver-slow]',
      'DeliverSlowDeferred: Emissor/prod MessageDeferred [service deliver-slow]',
      'DeliverSlowBacklog: AWS/SQS ApproximateAgeOfOldestMessage [QueueName SlowQueue]',
      'SweepStopped: AWS/Lambda Invocations [FunctionName Sweep]',
      'SweepCrashes: AWS/Lambda Errors [FunctionName Sweep]',
      'DeliveriesApiCrashes: AWS/Lambda Errors [FunctionName DeliveriesApi]',
    ]);
  });

  it('reach the operations topic when they go off and when they are over', () => {
    for (const [id, { Properties }] of alarms) {
      for (const actions of [Properties.AlarmActions, Properties.OKActions]) {
        expect(JSON.stringify(actions), id).toContain('Operations');
      }
      expect(Properties.AlarmDescription, id).toMatch(/\.$|list/);
    }
    Data.hasOutput('OperationsTopicArn', {});
  });

  it('may publish to the topic, whose own policy replaces the default one', () => {
    const [[, policy] = []] = resourcesOf(Data, 'AWS::SNS::TopicPolicy');
    const statements = policy?.Properties.PolicyDocument.Statement;
    expect(statements).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': '111122223333' } },
      }),
    );
    expect(statements).toContainEqual(
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
    );
  });

  it.each([
    ['one new dead letter', 'DeadLetters', 0],
    ['one reused refresh token', 'RefreshTokenReuse', 0],
    ['one refused address', 'DeliverFirstBlocked', 0],
    ['a surge of refused grants', 'InvalidGrantSurge', 500],
  ])('go off at %s', (_what, part, threshold) => {
    expect(named(part)).toMatchObject({
      Threshold: threshold,
      ComparisonOperator: 'GreaterThanThreshold',
      TreatMissingData: 'notBreaching',
    });
  });

  it('go off for new dead letters of any sender, and not for old ones', () => {
    interface Query {
      Id: string;
      Expression?: string;
      MetricStat?: { Metric: { MetricName: string; Dimensions: { Value: unknown }[] }; Period: number };
    }
    const { Metrics, EvaluationPeriods, DatapointsToAlarm } = named('DeadLetters');
    const queries = Metrics as Query[];
    const metrics = Object.fromEntries(
      queries.flatMap(({ Id, MetricStat }) => (MetricStat ? [[Id, MetricStat.Metric.MetricName]] : [])),
    );
    expect(metrics).toEqual({
      sent: 'NumberOfMessagesSent',
      visible: 'ApproximateNumberOfMessagesVisible',
      inFlight: 'ApproximateNumberOfMessagesNotVisible',
    });
    for (const { MetricStat } of queries) {
      if (!MetricStat) continue;
      expect(JSON.stringify(MetricStat.Metric.Dimensions)).toContain('DeadLetterQueue');
      expect(MetricStat.Period).toBe(60);
    }
    const goesOffAt = minuteByMinute(queries.find(({ Expression }) => Expression !== undefined)?.Expression ?? '');
    const none = { sent: 0, visible: 0, inFlight: 0 };
    const one = { ...none, visible: 1 };
    // sent by a function, and left there
    expect(goesOffAt([none, { ...one, sent: 1 }, one, one, one])).toEqual([1]);
    // moved by SQS, which counts nothing as sent, into an idle queue that reported nothing, and beside an older one
    expect(goesOffAt([{}, {}, one, one, { ...one, visible: 2 }, { ...one, visible: 2 }])).toEqual([2, 4]);
    // in flight while it is listed, and visible again
    expect(goesOffAt([one, { ...none, inFlight: 1 }, one, none])).toEqual([]);
    // one discarded in the very minute in which another is sent
    expect(goesOffAt([one, { ...one, sent: 1 }])).toEqual([1]);
    // SQS reports a minute late: the minute itself is evaluated again while it is among the latest five
    expect([EvaluationPeriods, DatapointsToAlarm]).toEqual([5, 1]);
  });

  it('go off when the sweeper does not run', () => {
    expect(named('SweepStopped')).toMatchObject({
      MetricName: 'Invocations',
      Threshold: 1,
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'breaching',
    });
  });

  it('count per stage, so that dev does not set off alarms of prod', () => {
    expect(named('RefreshTokenReuse')).toMatchObject({
      Namespace: 'Emissor/prod',
      Dimensions: [{ Name: 'service', Value: 'token' }],
    });
  });
});

describe('a failed smoke test', () => {
  // Bug: for a 503 of {base_url} it named an alarm that could not ring, and a query without the cause.
  it('names alarms and saved queries that exist', () => {
    const told = readFileSync(new URL('../../lambdas/smoke/step-record.ts', import.meta.url), 'utf8');
    const queries = Object.entries(savedQueries).flatMap(([area, of]) =>
      Object.keys(of).map(name => `${area}/${name}`),
    );
    const [named, alarmed] = [told.match(/(?<=")[a-z]+\/[a-z ]+(?=")/g), told.match(/(?<=the alarm )[A-Z]\w+/g)];
    expect(named?.length).toBeGreaterThan(2);
    for (const query of named ?? []) expect(queries).toContain(query);
    expect(alarmed?.length).toBeGreaterThan(1);
    for (const alarm of alarmed ?? []) expect(alarms.map(([id]) => bare(id))).toContain(`Alarms${alarm}`);
  });
});
