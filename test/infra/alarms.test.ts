import { describe, expect, it } from 'vitest';
import { resourcesOf, stageTemplates } from './templates.ts';

const { Data, ...others } = stageTemplates('prod');
const alarms = Object.values(others).flatMap(template => resourcesOf(template, 'AWS::CloudWatch::Alarm'));
const named = (part: string) => alarms.find(([id]) => id.includes(part))?.[1].Properties;

describe('alarms', () => {
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
