import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { deferralSeconds } from '../../lambdas/delivery/consumer/message-visibility.ts';
import { propertiesOf, stageTemplates } from './templates.ts';

// Each lane has a queue and a consumer. All queues share one dead-letter queue (docs/delivery.md).

const { Delivery } = stageTemplates('prod', { accountConcurrency: 600 });
const ofType = (type: string) => propertiesOf(Delivery, type);
const [maxReceiveCount, twoWeeks] = [1_000, 14 * 86_400]; // the maximum retention of SQS

describe('the queues', () => {
  const shared = { MessageRetentionPeriod: twoWeeks, SqsManagedSseEnabled: true };
  const work = {
    ...shared,
    // Bug: a message of nearly 1 MiB and its reason did not fit into a dead-letter message, so its consumer received it 100 times.
    MaximumMessageSize: 1_048_576 - 8_192,
    ReceiveMessageWaitTimeSeconds: 20,
    RedrivePolicy: { deadLetterTargetArn: 'DeadLetterQueue.Arn', maxReceiveCount }, // messages survive an outage of the tables
    VisibilityTimeout: 60, // the timeout of its consumer (functions.test.ts)
  };

  it('have the same properties, except that only work queues have a redrive policy', () => {
    expect(ofType('AWS::SQS::Queue')).toEqual({
      DeadLetterQueue: shared,
      EventsQueue: work,
      RetryQueue: work,
      SlowQueue: work,
    });
  });

  it('reject plain HTTP', () => {
    const policies = Object.values(ofType('AWS::SQS::QueuePolicy'));
    expect(policies).toHaveLength(4);
    const Condition = { Bool: { 'aws:SecureTransport': 'false' } };
    for (const { Queues, PolicyDocument } of policies)
      expect(PolicyDocument.Statement).toEqual([
        { Action: 'sqs:*', Condition, Effect: 'Deny', Principal: { AWS: '*' }, Resource: `${Queues[0]}.Arn` },
      ]);
  });

  // Bug: the pages stated 14 days, and said that only a crashed consumer causes dead-letter messages without a reason.
  it.each(['docs/runbook.md', 'docs/publishing.md'])('redeliver messages for the hours in %s', async page => {
    const seconds = Array.from({ length: maxReceiveCount }, (_, receive) => deferralSeconds(receive + 1));
    const hours = seconds.reduce((sum, delay) => sum + delay) / 3_600;
    expect(await readFile(page, 'utf8')).toContain(`${Math.floor(hours)} hours`);
  });
});

describe('the consumers', () => {
  const lanes = { First: ['EventsQueue', 30], Retry: ['RetryQueue', 12], Slow: ['SlowQueue', 12] } as const;

  it('have their own queue and concurrency, and no filter, because Lambda deletes messages that a filter excludes', () => {
    expect(Object.values(ofType('AWS::Lambda::EventSourceMapping'))).toEqual(
      Object.entries(lanes).map(([lane, [queue, MaximumConcurrency]]) => ({
        BatchSize: 10,
        EventSourceArn: `${queue}.Arn`,
        FunctionName: `6 of Deliver${lane}Live by ::live`,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency },
      })),
    );
  });

  it('have their lane, their queue and the concurrency of the slow lane in environment variables', () => {
    const functions = ofType('AWS::Lambda::Function');
    for (const [lane, [queue]] of Object.entries(lanes))
      expect(functions[`Deliver${lane}`].Environment.Variables).toMatchObject({
        LANE: lane.toLowerCase(),
        QUEUE_URL: queue,
        SLOW_CONCURRENCY: '12',
      });
  });

  it('have their log groups in an output for `ops logs`', () => {
    const { DeliveryLogGroups } = Delivery.toJSON().Outputs;
    for (const name of ['DeliverFirst', 'DeliverRetry', 'DeliverSlow'])
      expect(JSON.stringify(DeliveryLogGroups.Value)).toMatch(new RegExp(`"${name}Logs[0-9A-F]{8}"`));
  });
});
