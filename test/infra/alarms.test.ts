import { describe, expect, it } from 'vitest';
import { resourcesOf, stageTemplates } from './templates.ts';

const { Data, ...others } = stageTemplates('prod');
const alarms = Object.values(others).flatMap(template => resourcesOf(template, 'AWS::CloudWatch::Alarm'));
const named = (part: string) => alarms.find(([id]) => id.includes(part))?.[1].Properties;

/** A logical id without the hash that the CDK puts at its end. */
const bare = (id: string): string => id.replace(/[0-9A-F]{8}$/, '');

describe('alarms', () => {
  it('watch these metrics and no others', () => {
    const watched = alarms.map(([id, { Properties }]) => {
      const dimensions = Properties.Dimensions.map(
        ({ Name, Value }: { Name: string; Value: unknown }) =>
          `${Name} ${typeof Value === 'string' ? Value : bare(JSON.stringify(Value).match(/"([A-Za-z]+[0-9A-F]{8})"/)?.[1] ?? '')}`,
      );
      return `${bare(id).replace(/^Alarms/, '')}: ${Properties.Namespace} ${Properties.MetricName} [${dimensions.join(', ')}]`;
    });
    expect(watched).toEqual([
      'TokenFailures: Emissor/prod ServerError [service token]',
      'TokenCrashes: AWS/Lambda Errors [FunctionName Token]',
      'TokenThrottles: AWS/Lambda Throttles [FunctionName Token]',
      'RefreshTokenReuse: Emissor/prod RefreshTokenReuse [service token]',
      'InvalidGrantSurge: Emissor/prod InvalidGrant [service token]',
      'KeyRotationFailures: AWS/Lambda Errors [FunctionName RotateKeys]',
      'ApiCrashes: AWS/Lambda Errors [FunctionName Api]',
      'DeliverCrashes: AWS/Lambda Errors [FunctionName Deliver]',
      'RedeliverCrashes: AWS/Lambda Errors [FunctionName Redeliver]',
      'RedeliverSlowCrashes: AWS/Lambda Errors [FunctionName RedeliverSlow]',
      'DeliverBlocked: Emissor/prod Blocked [service deliver]',
      'DeliverOwnFaults: Emissor/prod OwnFault [service deliver]',
      'DeliverDeferred: Emissor/prod MessageDeferred [service deliver]',
      'RedeliverBlocked: Emissor/prod Blocked [service redeliver]',
      'RedeliverOwnFaults: Emissor/prod OwnFault [service redeliver]',
      'RedeliverDeferred: Emissor/prod MessageDeferred [service redeliver]',
      'HistoryCrashes: AWS/Lambda Errors [FunctionName History]',
      'DeadLetters: AWS/SQS ApproximateNumberOfMessagesVisible [QueueName DeadLetterQueue]',
      'EventsWait: AWS/SQS ApproximateAgeOfOldestMessage [QueueName EventsQueue]',
      'RetriesWait: AWS/SQS ApproximateAgeOfOldestMessage [QueueName RetryQueue]',
      'SlowRetriesWait: AWS/SQS ApproximateAgeOfOldestMessage [QueueName SlowQueue]',
      'SweepStopped: AWS/Lambda Invocations [FunctionName Sweep]',
      'SweepCrashes: AWS/Lambda Errors [FunctionName Sweep]',
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

  it('are let into the topic, whose own policy replaces the default one', () => {
    const [[, policy] = []] = resourcesOf(Data, 'AWS::SNS::TopicPolicy');
    const statements = policy?.Properties.PolicyDocument.Statement;
    expect(statements).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    );
    expect(statements).toContainEqual(
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
    );
  });

  it.each([
    ['anything in the dead-letter queue', 'DeadLetters', 0],
    ['one reused refresh token', 'RefreshTokenReuse', 0],
    ['one refused address', 'DeliverBlocked', 0],
    ['a surge of refused grants', 'InvalidGrantSurge', 500],
  ])('go off at %s', (_what, part, threshold) => {
    expect(named(part)).toMatchObject({
      Threshold: threshold,
      ComparisonOperator: 'GreaterThanThreshold',
      TreatMissingData: 'notBreaching',
    });
  });

  it('notice that the sweeper is silent', () => {
    expect(named('SweepStopped')).toMatchObject({
      MetricName: 'Invocations',
      Threshold: 1,
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'breaching',
    });
  });

  it('count per stage, lest dev wakes those who watch prod', () => {
    expect(named('RefreshTokenReuse')).toMatchObject({
      Namespace: 'Emissor/prod',
      Dimensions: [{ Name: 'service', Value: 'token' }],
    });
  });
});
