import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { deferral } from '../../lambdas/delivery/consumer/message-visibility.ts';
import { propertiesOf, stageTemplates } from './templates.ts';

// Each lane has a queue and a consumer; all queues share one dead-letter queue (docs/delivery.md).

const { Delivery } = stageTemplates('prod', { accountConcurrency: 600 });
const ofType = (type: string) => propertiesOf(Delivery, type);
const [maxReceiveCount, twoWeeks] = [1_000, 14 * 86_400]; // SQS keeps messages for at most 14 days

describe('the queues', () => {
  const shared = { MessageRetentionPeriod: twoWeeks, SqsManagedSseEnabled: true };
  const work = {
    ...shared,
    // A dead-letter message carries its reason, and both must fit into 1 MiB.
    // Bug: a message of nearly 1 MiB did not fit with its reason, and was received a hundred times instead.
    MaximumMessageSize: 1_048_576 - 8_192,
    ReceiveMessageWaitTimeSeconds: 20,
    RedrivePolicy: { deadLetterTargetArn: 'DeadLetterQueue.Arn', maxReceiveCount }, // it survives an outage of the tables
    VisibilityTimeout: 60, // as long as its consumer may run (functions.test.ts)
  };

  it('have these properties, and only the dead-letter queue has no redrive policy', () => {
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

  // Bug: the pages promised 14 days on the queue, and blamed a crashed consumer for dead-letter messages without a reason.
  it.each(['docs/runbook.md', 'docs/publishing.md'])('hold a message for the hours that %s names', async page => {
    const seconds = Array.from({ length: maxReceiveCount }, (_, receive) => deferral(receive + 1));
    const hours = seconds.reduce((sum, some) => sum + some) / 3_600;
    expect(await readFile(page, 'utf8')).toContain(`${Math.floor(hours)} hours`);
  });
});

describe('the consumers', () => {
  const lanes = { First: ['EventsQueue', 30], Retry: ['RetryQueue', 12], Slow: ['SlowQueue', 12] } as const;

  it('receive from a queue each, with a concurrency of their own, and filter no message: SQS deletes what is filtered', () => {
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

  it('know their lane, their queue, and the concurrency among which the attempts of a slow webhook are shared', () => {
    const functions = ofType('AWS::Lambda::Function');
    for (const [lane, [queue]] of Object.entries(lanes))
      expect(functions[`Deliver${lane}`].Environment.Variables).toMatchObject({
        LANE: lane.toLowerCase(),
        QUEUE_URL: queue,
        SLOW_CONCURRENCY: '12',
      });
  });

  it('have their logs in an output, for `ops logs`', () => {
    const { DeliveryLogGroups } = Delivery.toJSON().Outputs;
    for (const name of ['DeliverFirst', 'DeliverRetry', 'DeliverSlow'])
      expect(JSON.stringify(DeliveryLogGroups.Value)).toMatch(new RegExp(`"${name}Logs[0-9A-F]{8}"`));
  });
});
